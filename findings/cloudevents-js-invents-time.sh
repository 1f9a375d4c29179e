#!/usr/bin/env bash
# cloudevents 10.0.0 (npm), reading an event whose optional attribute `time` is absent.
#
# Expected: the event has no time.
# Found: it gets the time of its reading, in both modes. The same message read twice is two different events, and what passes it on
# tells its receivers a time at which nothing occurred.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund cloudevents@10.0.0
cat > check.mjs <<'JS'
import { setTimeout as sleep } from "node:timers/promises";
import { HTTP } from "cloudevents";
const attributes = { id: "1", type: "a", source: "/s", specversion: "1.0" };
const binary = {
  headers: {
    "content-type": "application/json",
    ...Object.fromEntries(Object.entries(attributes).map(([k, v]) => [`ce-${k}`, v])),
  },
  body: "{}",
};
const structured = {
  headers: { "content-type": "application/cloudevents+json" },
  body: JSON.stringify({ ...attributes, data: {} }),
};
for (const [mode, message] of Object.entries({ binary, structured })) {
  const first = HTTP.toEvent(message).time;
  await sleep(20);
  const second = HTTP.toEvent(message).time;
  console.log(`${mode}: ${typeof first}, ${first === second ? "the same" : "another"} at the second reading`);
}
JS
node check.mjs | tee found
diff found - <<'TEXT'
binary: string, another at the second reading
structured: string, another at the second reading
TEXT
