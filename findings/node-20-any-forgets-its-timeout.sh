#!/usr/bin/env bash
# node 20.20.2 beside 24.21.0 (npm package `node`): AbortSignal.any with an AbortSignal.timeout that nothing else holds.
#
# Expected: the combined signal, which has a listener, aborts after the time, as in 24.
# Found: in 20, at the end of its life, it never does once garbage has been collected. A request with such a signal waits for ever.
# AbortSignal.timeout alone aborts in both.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/check.mjs" <<'JS'
const listen = (signal) => {
  const heard = { name: "nothing" };
  signal.addEventListener("abort", ({ target }) => (heard.name = target.reason.name));
  return heard;
};
const alone = listen(AbortSignal.timeout(300));
const combined = listen(AbortSignal.any([new AbortController().signal, AbortSignal.timeout(300)]));
const collecting = setInterval(globalThis.gc, 20);
setTimeout(() => {
  clearInterval(collecting);
  console.log(`${alone.name}, ${combined.name}`);
}, 1_500);
JS
for version in 20.20.2 24.21.0; do
  npm install --prefix "$folder/$version" --no-audit --no-fund --loglevel=error "node@$version" >"$folder/npm.log" 2>&1 ||
    { cat "$folder/npm.log"; exit 1; }
  found=$("$folder/$version/node_modules/.bin/node" --expose-gc "$folder/check.mjs")
  echo "$version: $found"
  echo "$version: $found" >>"$folder/found"
done
printf '%s\n' "20.20.2: TimeoutError, nothing" "24.21.0: TimeoutError, TimeoutError" | diff - "$folder/found"
