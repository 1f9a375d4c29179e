#!/usr/bin/env bash
# node 20.20.2 and 24.21.0 on Linux.
# Expected: of the descriptors that a program inherits, a child that it spawns gets all or none. Node.js asks libuv to keep them from
# children when it starts.
# Happens: libuv marks descriptors in order and stops at the first number above 15 that is not open. So a child does not get
# descriptor 9, and gets 40. If 16 to 39 are open as well, it does not get 40 either. What a shell or a supervisor left open above a
# gap reaches every program that Node.js starts, for example a log of another user.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

SEE='for n in 9 40; do [ -e /proc/self/fd/$n ] && printf "%s " $n; done; true'
seen_by_child() { node -e 'process.stdout.write(require("child_process").execFileSync("sh", ["-c", process.argv[1]]))' "$SEE"; }

with_gap=$(exec 9> file 40> file; seen_by_child)
without_gap=$(for n in 9 {16..40}; do eval "exec $n> file"; done; seen_by_child)
node --version
printf 'a child gets, with a gap: %s\nwithout a gap: %s\n' "${with_gap:-none}" "${without_gap:-none}"
[[ $with_gap == "40 " && $without_gap == "" ]]
