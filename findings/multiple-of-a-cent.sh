#!/usr/bin/env bash
# Validators of JSON Schema and `"multipleOf": 0.01`, with amounts of cents and one that is none: Ajv 8.20.0, @cfworker/json-schema 4.1.6
# and jsonschema 1.5.0 (npm); jsonschema 4.26.0, fastjsonschema 2.22.3 and jsonschema-rs 0.61.2 (PyPI).
#
# Expected: 19.99, 0.07 and 4.35 are multiples, and 19.995 is none, as numbers of JSON are decimals.
# Found: Ajv and Python's jsonschema divide floats, and refuse all three. The others accept them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts ajv@8.20.0 @cfworker/json-schema@4.1.6 jsonschema@1.5.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check jsonschema==4.26.0 fastjsonschema==2.22.3 jsonschema-rs==0.61.2
cat > check.mjs <<'JS'
import { Validator as Cfworker } from "@cfworker/json-schema";
import { Ajv } from "ajv";
import jsonschema from "jsonschema";

const schema = { type: "number", multipleOf: 0.01 };
const validators = {
  "Ajv": new Ajv().compile(schema),
  "@cfworker/json-schema": (value) => new Cfworker(schema).validate(value).valid,
  "jsonschema (npm)": (value) => new jsonschema.Validator().validate(value, schema).valid,
};
for (const [name, accepts] of Object.entries(validators))
  console.log(`${name}: ${[19.99, 0.07, 4.35, 19.995].filter((value) => accepts(value)).join(" ") || "none"}`);
JS
cat > check.py <<'PY'
import fastjsonschema, jsonschema, jsonschema_rs

schema = {"multipleOf": 0.01}
compiled = fastjsonschema.compile(schema)

def fast(value):
    try:
        compiled(value)
        return True
    except fastjsonschema.JsonSchemaException:
        return False

validators = {
    "jsonschema (PyPI)": jsonschema.Draft202012Validator(schema).is_valid,
    "fastjsonschema": fast,
    "jsonschema-rs": lambda value: jsonschema_rs.is_valid(schema, value),
}
for name, accepts in validators.items():
    print(f"{name}:", *[value for value in [19.99, 0.07, 4.35, 19.995] if accepts(value)] or ["none"])
PY
{ node check.mjs; venv/bin/python check.py; } | tee found
diff found - <<'TEXT'
Ajv: none
@cfworker/json-schema: 19.99 0.07 4.35
jsonschema (npm): 19.99 0.07 4.35
jsonschema (PyPI): none
fastjsonschema: 19.99 0.07 4.35
jsonschema-rs: 19.99 0.07 4.35
TEXT
