#!/usr/bin/env bash
# OTEL_RESOURCE_ATTRIBUTES with one entry that is not encoded as OpenTelemetry asks, read by @opentelemetry/resources 2.12.1 (npm) and by
# opentelemetry-sdk 1.45.2 (PyPI).
#
# Expected: each program of a fleet that has one value of the variable shows the same attributes, or says that it leaves some out.
# Found: a percent sign alone, or an equals sign within a value, costs the package of npm all attributes, those before it too. The one of
# PyPI keeps all. A program that sets no logger for OpenTelemetry's own diagnostics says nothing of it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @opentelemetry/resources@2.12.1 @opentelemetry/api@1.9.1
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check opentelemetry-sdk==1.45.2
cat > read.mjs <<'JS'
import { detectResources, envDetector } from "@opentelemetry/resources";

const { attributes } = detectResources({ detectors: [envDetector] });
console.log("npm ", JSON.stringify(attributes));
JS
cat > read.py <<'PY'
import json
from opentelemetry.sdk.resources import OTELResourceDetector

found = dict(OTELResourceDetector().detect().attributes)
print("PyPI", json.dumps({name: found[name] for name in found if name != "service.name"}))
PY
for value in "team=shop,load=80" "team=shop,load=80%" "team=shop,query=a=b"; do
  echo "$value"
  OTEL_RESOURCE_ATTRIBUTES=$value node read.mjs
  OTEL_RESOURCE_ATTRIBUTES=$value venv/bin/python read.py
done 2>&1 | tee found
diff found - <<'TEXT'
team=shop,load=80
npm  {"team":"shop","load":"80"}
PyPI {"team": "shop", "load": "80"}
team=shop,load=80%
npm  {}
PyPI {"team": "shop", "load": "80%"}
team=shop,query=a=b
npm  {}
PyPI {"team": "shop", "query": "a=b"}
TEXT
