"""Prints the reaction of examples/verify.py to each mistake in a receiver."""

import os, pathlib, sys

root, signature, timestamp, body = sys.argv[1:]
sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(root) / "examples"))
from verify import verify

for secrets in [[], [""], ["whsec_x", ""], [os.environ.get("NOT_SET")], "whsec_x", ["whsec_x\n"], ['"whsec_x"'], ["vck_x.y"], ["whsec_x,whsec_y"]]:
    try:
        print(verify(secrets, signature, timestamp, body.encode(), int(timestamp)))
    except ValueError as error:
        print("throws:", error)
