#!/usr/bin/env bash
# Node.js 20.19 and newer: a thread inherits the options of its process, also those that no file can be run with.
#
# One expects that `new Worker(file)` runs a file wherever it is called. In a process that was started with
# `node --input-type=module -e …` it does not: the thread inherits `--input-type`, which Node.js refuses for a file, and the
# worker's only sign is its event `error` with ERR_INPUT_TYPE_NOT_ALLOWED. With `execArgv: []` the same worker runs. A library that
# starts threads therefore fails in scripts, and in tests that run a program by `-e`, and nowhere else.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf 'import { parentPort } from "node:worker_threads";\nparentPort.postMessage("it runs");\n' > worker.mjs
program='
import { Worker } from "node:worker_threads";
import { pathToFileURL } from "node:url";
const file = pathToFileURL(process.cwd() + "/worker.mjs");
for (const options of [{}, { execArgv: [] }]) {
  const worker = new Worker(file, options);
  const said = await new Promise((resolve) => {
    worker.on("message", resolve);
    worker.on("error", (error) => resolve(error.code));
  });
  console.log(JSON.stringify(options), said);
}'

node --version
seen="$(node --input-type=module -e "$program")"
echo "$seen"
[[ "$seen" == *'{} ERR_INPUT_TYPE_NOT_ALLOWED'* && "$seen" == *'{"execArgv":[]} it runs'* ]] || {
  echo "the behaviour has changed" >&2
  exit 1
}
