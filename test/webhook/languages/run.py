"""Prints the verdict of examples/verify.py on each vector."""

import base64, json, pathlib, sys

root = pathlib.Path(sys.argv[1])
sys.dont_write_bytecode = True
sys.path.insert(0, str(root / "examples"))
from verify import verify


def header(case, name):
    values = [value for key, value in case["headers"] if key.lower() == name]
    return ", ".join(values) if values else None


for case in json.loads((root / "vectors/signature.json").read_text())["cases"]:
    body = base64.b64decode(case["body"]) * case["repeat"]
    signature, timestamp = header(case, "x-vc-signature"), header(case, "x-vc-timestamp")
    print(verify(case["secrets"], signature, timestamp, body, case["now"]))
