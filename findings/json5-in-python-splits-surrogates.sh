#!/usr/bin/env bash
# JSON5 in Python: json5 0.17.3, json-five 1.1.2 and pyjson5 2.0.1 (PyPI) beside json5 2.2.3 (npm). json5 and json-five are modules of the same
# name, so each has its own environment. They read what json of Python writes by default.
#
# Expected: each document of JSON is one of JSON5 and means the same, and a NaN is written as NaN.
# Found: json5 and json-five read the two escapes of a character beyond U+FFFF as two halves, which json joins. The text looks right until it
# is written: it cannot be encoded as UTF-8. json-five writes NaN as nan, which nobody reads, and refuses U+2028 in a text, which JSON allows
# and JSON5 names.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts json5@2.2.3
for package in json5==0.17.3 json-five==1.1.2 pyjson5==2.0.1; do
  python3 -m venv "${package%%=*}"
  "${package%%=*}/bin/pip" install --quiet --disable-pip-version-check "$package"
done
cat > check.py <<'PY'
import json, sys

name = sys.argv[1]
library = __import__("pyjson5" if name == "pyjson5" else "json5")

def attempt(work):
    try:
        return work()
    except Exception as error:
        return type(error).__name__

note = library.loads(json.dumps("👍"))
print(f"{name} reads", ascii(note), "and encodes it as", attempt(lambda: note.encode().hex()))
print(f"{name} reads U+2028 as", attempt(lambda: ascii(library.loads('"\u2028"'))))
print(f"{name} writes NaN as", library.dumps(float("nan")))
PY
cat > check.mjs <<'JS'
import json5 from "json5";

const note = json5.parse('"\\ud83d\\udc4d"');
console.log("json5 of npm reads", note, "and encodes it as", Buffer.from(note).toString("hex"));
try {
  json5.parse("nan");
} catch (error) {
  console.log("json5 of npm reads nan:", error.name);
}
JS
for name in json5 json-five pyjson5; do "$name/bin/python" check.py "$name"; done | tee found
node check.mjs | tee -a found
diff found - <<'TEXT'
json5 reads '\ud83d\udc4d' and encodes it as UnicodeEncodeError
json5 reads U+2028 as '\u2028'
json5 writes NaN as NaN
json-five reads '\ud83d\udc4d' and encodes it as UnicodeEncodeError
json-five reads U+2028 as JSON5DecodeError
json-five writes NaN as nan
pyjson5 reads '\U0001f44d' and encodes it as f09f918d
pyjson5 reads U+2028 as '\u2028'
pyjson5 writes NaN as NaN
json5 of npm reads 👍 and encodes it as f09f918d
json5 of npm reads nan: SyntaxError
TEXT
