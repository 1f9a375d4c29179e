#!/usr/bin/env bash
# logfmt: logfmter 0.0.12 and structlog 26.1.0 (PyPI) write a line, and logfmt 1.4.0 (npm) reads it.
#
# Expected: a path of Windows and a text of two lines arrive as they were written, and two texts that differ make two lines that differ.
# Found: npm's logfmt drops each backslash that stands before a letter, in quotes or not: C:\new arrives as C:new, and the end of a line as
# the letter n. structlog escapes a line's end but no backslash, unless the text needs quotes. So it writes the same for a text of two
# lines and for one with a backslash and an n.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts logfmt@1.4.0
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check logfmter==0.0.12 structlog==26.1.0
cat > write.py <<'PY'
import json, logging
from logfmter import Logfmter
from structlog.processors import LogfmtRenderer

by_logfmter = lambda text: Logfmter(keys=[]).format(logging.makeLogRecord({"msg": {"path": text}}))
by_structlog = lambda text: LogfmtRenderer()(None, None, {"path": text})
for text in ["C:\\new", "C:\\new dir", "C:\new", "a \"b\""]:
    print(json.dumps([text, by_logfmter(text), by_structlog(text)]))
PY
cat > read.mjs <<'JS'
import { readFileSync } from "node:fs";
import logfmt from "logfmt";

for (const line of readFileSync(0, "utf8").trim().split("\n")) {
  const [text, byLogfmter, byStructlog] = JSON.parse(line);
  console.log(JSON.stringify(text));
  for (const [name, written] of Object.entries({ logfmter: byLogfmter, structlog: byStructlog }))
    console.log(`  ${name}: ${written} is read as ${JSON.stringify(logfmt.parse(written).path)}`);
}
JS
venv/bin/python write.py | node read.mjs | tee found
diff found - <<'TEXT'
"C:\\new"
  logfmter: path=C:\new is read as "C:new"
  structlog: path=C:\new is read as "C:new"
"C:\\new dir"
  logfmter: path="C:\\new dir" is read as "C:\\new dir"
  structlog: path="C:\\new dir" is read as "C:\\new dir"
"C:\new"
  logfmter: path="C:\new" is read as "C:new"
  structlog: path=C:\new is read as "C:new"
"a \"b\""
  logfmter: path="a \"b\"" is read as "a \"b\""
  structlog: path="a \"b\"" is read as "a \"b\""
TEXT
