#!/usr/bin/env bash
# PyPI pydantic 2.14.4, on Python 3.11.
#
# One would expect that a duration of ISO 8601 with years or months, which have no fixed length and which a timedelta cannot hold, is
# refused or kept.
#
# What happens: it is read as a timedelta of 30 days a month and 365 days a year, and written as days. A plan of a year and a month is
# written as one of a year and 30 days, and 12 months are 360 days.
#
# Seen: P1M -> P30D, P12M -> P360D, P1Y1M -> P1Y30D
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pydantic==2.14.4
seen=$(venv/bin/python - <<'PROGRAM'
from datetime import timedelta

from pydantic import TypeAdapter

duration = TypeAdapter(timedelta)
texts = ["P1M", "P12M", "P1Y1M"]
print(", ".join(f"{one} -> {duration.dump_python(duration.validate_python(one), mode='json')}" for one in texts))
PROGRAM
)
echo "pydantic 2.14.4, $(python3 --version)"
echo "$seen"
[ "$seen" = "P1M -> P30D, P12M -> P360D, P1Y1M -> P1Y30D" ]
