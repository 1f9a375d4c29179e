#!/usr/bin/env bash
# Avro: a reader's schema has a field that the writer's has not, so that its default counts. avsc 5.7.9 (npm) beside fastavro 1.13.1 and
# avro 1.12.2 (PyPI).
#
# Expected: the default of bytes is a text whose characters are the bytes ("Unicode code points 0-255 are mapped to unsigned 8-bit byte
# values"), so "ÿ" is one byte, 255. The default of a record may leave out the fields that have a default of their own.
# Found: avro gives the two bytes of UTF-8, and fastavro a text, for a decimal, too. fastavro leaves the field of the record out. avsc does
# as expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts avsc@5.7.9
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check avro==1.12.2 fastavro==1.13.1
cat > fields.json <<'JSON'
[
  { "name": "a", "type": "bytes", "default": "\u00ff" },
  { "name": "a", "type": { "type": "fixed", "name": "F", "size": 1 }, "default": "\u00ff" },
  { "name": "a", "type": { "type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2 }, "default": "\u0007\u00cf" },
  {
    "name": "a",
    "type": {
      "type": "record",
      "name": "R",
      "fields": [{ "name": "b", "type": "int" }, { "name": "c", "type": "int", "default": 3 }]
    },
    "default": { "b": 2 }
  }
]
JSON
cat > check.mjs <<'JS'
import { readFileSync } from "node:fs";
import avro from "avsc";

const schema = (...fields) => avro.Type.forSchema({ type: "record", name: "E", fields });
for (const field of JSON.parse(readFileSync("fields.json"))) {
  const reader = schema(field);
  const { a } = reader.fromBuffer(Buffer.alloc(0), reader.createResolver(schema()));
  console.log("avsc:", JSON.stringify(a));
}
JS
cat > check.py <<'PY'
import io, json, sys
import avro.io, avro.schema, fastavro

def schema(*fields):
    return {"type": "record", "name": "E", "fields": list(fields)}

def by_avro(field):
    writer, reader = (avro.schema.parse(json.dumps(each)) for each in (schema(), schema(field)))
    return avro.io.DatumReader(writer, reader).read(avro.io.BinaryDecoder(io.BytesIO()))

def by_fastavro(field):
    return fastavro.schemaless_reader(io.BytesIO(), schema(), schema(field))

for read in (by_avro, by_fastavro):
    for field in json.load(open("fields.json")):
        print(f"{read.__name__[3:]}:", repr(read(field)["a"]))
PY
{ node check.mjs; venv/bin/python check.py; } | tee found
diff found - <<'TEXT'
avsc: {"type":"Buffer","data":[255]}
avsc: {"type":"Buffer","data":[255]}
avsc: {"type":"Buffer","data":[7,207]}
avsc: {"b":2,"c":3}
avro: b'\xc3\xbf'
avro: b'\xc3\xbf'
avro: b'\x07\xc3\x8f'
avro: {'b': 2, 'c': 3}
fastavro: 'ÿ'
fastavro: 'ÿ'
fastavro: '\x07Ï'
fastavro: {'b': 2}
TEXT
