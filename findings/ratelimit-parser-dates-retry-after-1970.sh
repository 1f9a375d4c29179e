#!/usr/bin/env bash
# ratelimit-header-parser 0.1.0 (npm) reads what express-rate-limit 8.7.5 with express 5.3.0 (npm) sends, which the same group makes, and
# the headers of an API that tells the wait by Retry-After.
#
# Expected: the limit, what remains and when it begins anew, or nothing, as without such headers, if a header is of an unknown draft.
# Found: for draft-8, the newest that express-rate-limit writes, each member is NaN or an invalid date, and there is no error. Retry-After: 5,
# five seconds, becomes a date in 1970, so a client that waits until then does not wait.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts ratelimit-header-parser@0.1.0 express-rate-limit@8.7.5 express@5.3.0
cat > check.mjs <<'JS'
import { once } from "node:events";
import express from "express";
import { rateLimit } from "express-rate-limit";
import { parseRateLimit } from "ratelimit-header-parser";

const inSeconds = ({ reset }) => {
  const seconds = Math.round((reset - Date.now()) / 1000);
  return Number.isNaN(seconds) ? "never" : seconds < -86_400 ? reset.toISOString() : `in ${seconds} seconds`;
};
for (const standardHeaders of ["draft-6", "draft-7", "draft-8"]) {
  const app = express().use(rateLimit({ limit: 5, windowMs: 60_000, standardHeaders, legacyHeaders: false, validate: false }));
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { headers } = await fetch(`http://127.0.0.1:${server.address().port}/`, { headers: { connection: "close" } });
  const found = parseRateLimit(headers);
  console.log(`${standardHeaders}: limit ${found.limit}, remaining ${found.remaining}, anew ${inSeconds(found)}`);
  server.close();
}
console.log("no headers:", parseRateLimit({}));
for (const name of ["x-ratelimit-reset", "retry-after"])
  console.log(`${name}: 5 is`, inSeconds(parseRateLimit({ "x-ratelimit-limit": "10", "x-ratelimit-remaining": "0", [name]: "5" })));
JS
node check.mjs | tee found
diff found - <<'TEXT'
draft-6: limit 5, remaining 4, anew in 60 seconds
draft-7: limit 5, remaining 4, anew in 60 seconds
draft-8: limit NaN, remaining NaN, anew never
no headers: undefined
x-ratelimit-reset: 5 is in 5 seconds
retry-after: 5 is 1970-01-01T00:00:05.000Z
TEXT
