#!/usr/bin/env bash
# PyPI datamodel-code-generator 0.89.0 with pydantic 2.14.4, on Python 3.11.
#
# One would expect that a member whose `enum` has both 1 and true keeps the value that a document has.
#
# What happens: the generator makes an Enum with a member for each. To Python, True equals 1, so the second member is another name of
# the first. A valid document with true is read without an error, and is written with 1.
#
# Seen: {"flag":true} is written as {"flag":1}; {"flag":1} is written as {"flag":1}
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check datamodel-code-generator==0.89.0 pydantic==2.14.4
cat >schema.json <<'SCHEMA'
{"title": "Thing", "type": "object", "properties": {"flag": {"enum": ["auto", 1, true]}}, "required": ["flag"]}
SCHEMA
venv/bin/datamodel-codegen --input schema.json --input-file-type jsonschema --disable-timestamp \
  --output-model-type pydantic_v2.BaseModel --output thing.py 2>/dev/null
seen=$(venv/bin/python - <<'PROGRAM'
from thing import Thing

documents = ['{"flag":true}', '{"flag":1}']
print("; ".join(f"{one} is written as {Thing.model_validate_json(one).model_dump_json()}" for one in documents))
PROGRAM
)
echo "datamodel-code-generator 0.89.0, pydantic 2.14.4, $(python3 --version)"
echo "$seen"
[ "$seen" = '{"flag":true} is written as {"flag":1}; {"flag":1} is written as {"flag":1}' ]
