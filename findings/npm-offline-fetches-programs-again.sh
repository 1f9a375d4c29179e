#!/usr/bin/env bash
# npm 11: an offline install accepts a copied package, unless the package has a program.
#
# One expects that `npm install ./x.tgz --offline` needs no registry if node_modules already holds every dependency in a version
# that fits. It does for packages without `bin`. A package with `bin`, whose links in node_modules/.bin are missing, is retired and
# fetched again, so the install ends with ENOTCACHED and names that package, which is right there. Without the member `bin` in its
# package.json the same copy is accepted.
set -euo pipefail

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo "npm $(npm --version)"

mkdir source && (cd source && echo '{"private":true}' > package.json &&
  npm install commander@14.0.3 yaml@2.9.1 --no-audit --no-fund --loglevel=error > /dev/null)

# $1: the dependency, $2: what to do with its package.json
install() {
  rm -rf project ours && mkdir -p project/node_modules ours
  echo "{\"name\":\"ours\",\"version\":\"1.0.0\",\"dependencies\":{\"$1\":\"*\"}}" > ours/package.json
  (cd ours && npm pack --silent > /dev/null)
  cp -r "source/node_modules/$1" project/node_modules/
  echo '{"private":true}' > project/package.json
  if [[ "$2" == "without bin" ]]; then
    node -e '
      const fs = require("fs"), file = process.argv[1], { bin, ...rest } = JSON.parse(fs.readFileSync(file));
      fs.writeFileSync(file, JSON.stringify(rest));' "project/node_modules/$1/package.json"
  fi
  (cd project && npm_config_cache="$folder/empty-cache" npm install ../ours/ours-1.0.0.tgz --offline --no-audit --no-fund 2>&1 |
    grep -oE 'ENOTCACHED|added [0-9]+ package' | head -1)
}

seen="commander (no program): $(install commander "as it is")
yaml (a program): $(install yaml "as it is")
yaml (a program): without bin: $(install yaml "without bin")"
echo "$seen"
[[ "$seen" == *"commander (no program): added 1 package"* && "$seen" == *"yaml (a program): ENOTCACHED"* &&
  "$seen" == *"without bin: added 1 package"* ]] || {
  echo "the behaviour has changed" >&2
  exit 1
}
