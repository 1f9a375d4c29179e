#!/usr/bin/env bash
# Libraries of Python that compare two JSON documents: deepdiff 9.1.0, dictdiffer 0.10.0, jsondiff 2.2.1, json-merge-patch 0.3.0 and
# jsonpatch 1.48 (all PyPI), where 1 becomes true and 0 becomes false.
#
# Expected: a difference, as JSON's numbers and booleans are different types.
# Found: dictdiffer, jsondiff and json-merge-patch find none, because 1 == True in Python. A patch that they make leaves the old value.
# deepdiff finds it in an object, and in a list only with ignore_order, which one sets to see less. jsonpatch finds each.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check deepdiff==9.1.0 dictdiffer==0.10.0 jsondiff==2.2.1 json-merge-patch==0.3.0 jsonpatch==1.48
cat > check.py <<'PY'
import json
import deepdiff, dictdiffer, json_merge_patch, jsondiff, jsonpatch

libraries = {
    "deepdiff": deepdiff.DeepDiff,
    "deepdiff with ignore_order": lambda old, new: deepdiff.DeepDiff(old, new, ignore_order=True),
    "dictdiffer": lambda old, new: list(dictdiffer.diff(old, new)),
    "jsondiff": jsondiff.diff,
    "json-merge-patch": json_merge_patch.create_patch,
    "jsonpatch": lambda old, new: jsonpatch.make_patch(old, new).patch,
}
pairs = [({"a": 1}, {"a": True}), ({"a": [1, 0]}, {"a": [True, False]}), ({"a": [1]}, {"a": [2]})]
for name, difference in libraries.items():
    found = [f"{json.dumps(old)} to {json.dumps(new)} {'differs' if difference(old, new) else 'is the same'}" for old, new in pairs]
    print(f"{name}: {', '.join(found)}")
PY
venv/bin/python check.py | tee found
diff found - <<'TEXT'
deepdiff: {"a": 1} to {"a": true} differs, {"a": [1, 0]} to {"a": [true, false]} is the same, {"a": [1]} to {"a": [2]} differs
deepdiff with ignore_order: {"a": 1} to {"a": true} differs, {"a": [1, 0]} to {"a": [true, false]} differs, {"a": [1]} to {"a": [2]} differs
dictdiffer: {"a": 1} to {"a": true} is the same, {"a": [1, 0]} to {"a": [true, false]} is the same, {"a": [1]} to {"a": [2]} differs
jsondiff: {"a": 1} to {"a": true} is the same, {"a": [1, 0]} to {"a": [true, false]} is the same, {"a": [1]} to {"a": [2]} differs
json-merge-patch: {"a": 1} to {"a": true} is the same, {"a": [1, 0]} to {"a": [true, false]} is the same, {"a": [1]} to {"a": [2]} differs
jsonpatch: {"a": 1} to {"a": true} differs, {"a": [1, 0]} to {"a": [true, false]} differs, {"a": [1]} to {"a": [2]} differs
TEXT
