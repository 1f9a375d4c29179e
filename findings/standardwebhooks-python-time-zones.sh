#!/usr/bin/env bash
# standardwebhooks 1.1.0 (PyPI), `Webhook.sign` with a time of another zone than UTC.
#
# Expected: the same moment gives the same signature, as an aware `datetime` says which moment it is.
# Found: the zone is replaced by UTC, not converted. A delivery that is signed with a time of +02:00 and sent with its Unix seconds is
# refused by the same library. svix 2.9.1 (PyPI) signs through it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check standardwebhooks==1.1.0
cat > check.py <<'PY'
import base64
from datetime import datetime, timedelta, timezone
from standardwebhooks import Webhook

webhook = Webhook("whsec_" + base64.b64encode(bytes(24)).decode())
now = datetime.now(timezone.utc)
for name, time in {"UTC": now, "+02:00": now.astimezone(timezone(timedelta(hours=2)))}.items():
    headers = {
        "webhook-id": "msg_1",
        "webhook-timestamp": str(int(time.timestamp())),
        "webhook-signature": webhook.sign("msg_1", time, "{}"),
    }
    try:
        webhook.verify("{}", headers)
        print(f"{name}: verified")
    except Exception as error:
        print(f"{name}: {error}")
PY
venv/bin/python check.py | tee found
diff found - <<'TEXT'
UTC: verified
+02:00: No matching signature found
TEXT
