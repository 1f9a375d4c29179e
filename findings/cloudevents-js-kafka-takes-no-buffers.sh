#!/usr/bin/env bash
# cloudevents 10.0.0 (npm), `Kafka.toEvent` with headers and value as Buffers. So do kafkajs 2.2.4 and node-rdkafka give them to a
# consumer, because a header of Kafka is bytes.
#
# Expected: a message that the library's own `Kafka.binary` made is read, after a broker has carried it.
# Found: a TypeError, because the content type is taken for a text. With the headers as texts it is read, the value as a Buffer too.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund cloudevents@10.0.0
cat > check.mjs <<'JS'
import { CloudEvent, Kafka } from "cloudevents";
const sent = Kafka.binary(
  new CloudEvent({ id: "1", type: "a", source: "/s", datacontenttype: "application/json", data: { x: 1 } }),
);
const inBytes = (headers) => Object.fromEntries(Object.entries(headers).map(([k, v]) => [k, Buffer.from(String(v))]));
const value = Buffer.from(JSON.stringify(sent.value));
const read = (message) => {
  try {
    const { data } = Kafka.toEvent({ key: null, timestamp: "0", ...message });
    return Buffer.isBuffer(data) ? "a Buffer" : JSON.stringify(data);
  } catch (error) {
    return error.name;
  }
};
console.log("as it was made:", read(sent));
console.log("headers as bytes:", read({ headers: inBytes(sent.headers), value }));
console.log("headers as texts:", read({ headers: sent.headers, value }));
JS
node check.mjs | tee found
diff found - <<'TEXT'
as it was made: {"x":1}
headers as bytes: TypeError
headers as texts: {"x":1}
TEXT
