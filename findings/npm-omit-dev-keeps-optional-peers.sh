#!/usr/bin/env bash
# npm 11.16.0 (and 12.2.2), a workspace that names an optional peer which the root has among its packages for development.
#
# Expected: `npm ci --omit=dev` leaves the package out. Nothing but development asks for it: npm installs no optional peer by itself.
# Found: it is installed. The lock file marks it "devOptional" in place of "dev", and such a package is left out only with
# `--omit=dev --omit=optional`, which would leave out all other optional packages, too. `--omit=peer` changes nothing. With
# legacy-peer-deps=true it is marked "dev", and left out.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir -p tool project/packages/bridge
npm install --silent --no-audit --no-fund --prefix tool npm@11.16.0
npm() { node "$folder/tool/node_modules/npm/bin/npm-cli.js" --silent --no-audit --no-fund "$@"; }
cd project
echo '{ "name": "root", "private": true, "workspaces": ["packages/*"], "devDependencies": { "ms": "2.1.3" } }' > package.json
cat > packages/bridge/package.json <<'JSON'
{
  "name": "bridge",
  "version": "1.0.0",
  "peerDependencies": { "ms": "2.1.3" },
  "peerDependenciesMeta": { "ms": { "optional": true } }
}
JSON
# Prints how the lock file marks the package, and whether an install without packages for development has it.
outcome() {
  rm -rf node_modules package-lock.json
  npm install --package-lock-only "$@"
  npm ci --omit=dev --omit=peer "$@"
  node -p '
    const { packages } = JSON.parse(require("fs").readFileSync("package-lock.json"));
    const { dev, devOptional } = packages["node_modules/ms"];
    `${devOptional ? "devOptional" : dev ? "dev" : "neither"} ${require("fs").existsSync("node_modules/ms") ? "installed" : "left out"}`'
}
usual=$(outcome)
legacy=$(outcome --legacy-peer-deps)
echo "usual: $usual; legacy-peer-deps: $legacy"
[ "$usual" = "devOptional installed" ] && [ "$legacy" = "dev left out" ]
