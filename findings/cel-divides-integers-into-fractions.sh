#!/usr/bin/env bash
# The Common Expression Language, with which events are filtered: cel-js 0.8.2 and @marcbachmann/cel-js 8.0.0 (npm), cel-python 0.5.0 (PyPI).
#
# Expected: the same results, as the language is specified: an integer has 64 bits, a quotient of integers is an integer, a character counts
# once, and a text may have escapes.
# Found: to cel-js 7 / 2 is 3.5, neighbouring ids of more than 2^53 are equal, an emoji counts twice, and an escape stays as it is written,
# so a comparison with it is false, without an error. It knows no call of a method, such as startsWith. cel-python says that true is 1. The
# text of 1.0 is 1.0 to cel-python, and 1 to @marcbachmann/cel-js.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts cel-js@0.8.2 @marcbachmann/cel-js@8.0.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check cel-python==0.5.0
cat > expressions <<'TEXT'
7 / 2
-7 / 2
9007199254740993 == 9007199254740992
size('👍')
'\u00e9' == 'é'
'abc'.startsWith('a')
true == 1
string(1.0)
TEXT
cat > check.mjs <<'JS'
import { readFileSync } from "node:fs";
import { evaluate as marcbachmann } from "@marcbachmann/cel-js";
import { evaluate as celJs } from "cel-js";

for (const [name, evaluate] of Object.entries({ "cel-js": celJs, "@marcbachmann/cel-js": marcbachmann }))
  for (const expression of readFileSync("expressions", "utf8").trim().split("\n"))
    try {
      console.log(`${expression} is, by ${name}:`, String(evaluate(expression, {})));
    } catch {
      console.log(`${expression} is refused by ${name}`);
    }
JS
cat > check.py <<'PY'
import celpy

environment = celpy.Environment()
for expression in open("expressions").read().strip().split("\n"):
    try:
        found = environment.program(environment.compile(expression)).evaluate({})
        print(f"{expression} is, by cel-python:", str(found).lower())
    except celpy.CELEvalError:
        print(f"{expression} is refused by cel-python")
PY
{ node check.mjs; venv/bin/python check.py 2> /dev/null; } | tee found
diff found - <<'TEXT'
7 / 2 is, by cel-js: 3.5
-7 / 2 is, by cel-js: -3.5
9007199254740993 == 9007199254740992 is, by cel-js: true
size('👍') is, by cel-js: 2
'\u00e9' == 'é' is, by cel-js: false
'abc'.startsWith('a') is refused by cel-js
true == 1 is, by cel-js: false
string(1.0) is refused by cel-js
7 / 2 is, by @marcbachmann/cel-js: 3
-7 / 2 is, by @marcbachmann/cel-js: -3
9007199254740993 == 9007199254740992 is, by @marcbachmann/cel-js: false
size('👍') is, by @marcbachmann/cel-js: 1
'\u00e9' == 'é' is, by @marcbachmann/cel-js: true
'abc'.startsWith('a') is, by @marcbachmann/cel-js: true
true == 1 is refused by @marcbachmann/cel-js
string(1.0) is, by @marcbachmann/cel-js: 1
7 / 2 is, by cel-python: 3
-7 / 2 is, by cel-python: -3
9007199254740993 == 9007199254740992 is, by cel-python: false
size('👍') is, by cel-python: 1
'\u00e9' == 'é' is, by cel-python: true
'abc'.startsWith('a') is, by cel-python: true
true == 1 is, by cel-python: true
string(1.0) is, by cel-python: 1.0
TEXT
