#!/usr/bin/env bash
# orjson 3.13.0 and yyjson 4.0.6 (both PyPI) beside ujson 6.1.0, msgspec 0.22.0, simplejson 4.3.0 and pydantic-core 2.50.5, reading an
# integer that needs more than 64 bits.
#
# Expected: the integer, as Python has integers of any length, or an error.
# Found: orjson and yyjson return the nearest float without a word. The others return the integer. orjson refuses to write the very
# integer whose text it accepts.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check orjson==3.13.0 yyjson==4.0.6 ujson==6.1.0 msgspec==0.22.0 simplejson==4.3.0 pydantic-core==2.50.5
cat > check.py <<'PY'
import msgspec, orjson, pydantic_core, simplejson, ujson, yyjson

readers = {
    "orjson": orjson.loads,
    "yyjson": lambda text: yyjson.Document(text).as_obj,
    "ujson": ujson.loads,
    "msgspec": msgspec.json.decode,
    "simplejson": simplejson.loads,
    "pydantic-core": pydantic_core.from_json,
}
for name, read in readers.items():
    print(f"{name}: {read('18446744073709551616')!r}")
try:
    print("orjson writes", orjson.dumps(18446744073709551616))
except Exception as error:
    print("orjson writes:", type(error).__name__)
PY
venv/bin/python check.py | tee found
diff found - <<'TEXT'
orjson: 1.8446744073709552e+19
yyjson: 1.8446744073709552e+19
ujson: 18446744073709551616
msgspec: 18446744073709551616
simplejson: 18446744073709551616
pydantic-core: 18446744073709551616
orjson writes: TypeError
TEXT
