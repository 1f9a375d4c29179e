"""Builds the wheel and the sdist of the project in the current folder, the same bytes each time.

The argument is the folder for the archives. SOURCE_DATE_EPOCH is the time of the files in them.
"""

import gzip
import os
import sys
import tarfile
import tempfile

from setuptools import build_meta

folder, time = sys.argv[1], int(os.environ["SOURCE_DATE_EPOCH"])
os.umask(0o022)
for parent, _, names in os.walk("."):
    for name in names:
        os.chmod(os.path.join(parent, name), 0o644)

wheel = build_meta.build_wheel(folder)
name, version = wheel.split("-")[:2]

# setuptools writes its own times and owners into an sdist, and older ones not the name that PyPI demands.
with tempfile.TemporaryDirectory() as made:
    with tarfile.open(os.path.join(made, build_meta.build_sdist(made))) as sdist:
        members = [(one, sdist.extractfile(one)) for one in sdist.getmembers() if one.isfile()]
        with open(os.path.join(folder, f"{name}-{version}.tar.gz"), "wb") as out:
            with gzip.GzipFile("", "wb", fileobj=out, mtime=time) as packed:
                with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as again:
                    for member, content in sorted(members, key=lambda one: one[0].name):
                        clean = tarfile.TarInfo(f"{name}-{version}/{member.name.split('/', 1)[1]}")
                        clean.size, clean.mtime = member.size, time
                        again.addfile(clean, content)
