"""Turns the tar file of a Go module on standard input into a zip file, the same bytes each time.

The arguments are the zip file, the folder in it, the module's path in the sources, and its path in the zip file.
"""

import sys
import tarfile
import time
import zipfile

output, folder, written, path = sys.argv[1:]
with tarfile.open(fileobj=sys.stdin.buffer, mode="r|") as source:
    with zipfile.ZipFile(output, "w") as packed:
        for member in source:
            if member.isfile():
                text = source.extractfile(member).read().decode().replace(written, path)
                packed.writestr(zipfile.ZipInfo(folder + member.name, time.gmtime(member.mtime)[:6]), text)
