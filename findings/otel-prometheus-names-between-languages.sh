#!/usr/bin/env bash
# OpenTelemetry's exporters for Prometheus without options: @opentelemetry/exporter-prometheus 0.223.0 with sdk-metrics 2.12.1 (npm; 0.301.0
# with 3.1.1, which needs Node.js 22, names alike) and opentelemetry-exporter-prometheus 0.66b2 with sdk 1.45.2 (PyPI), the same instruments.
#
# Expected: the same names, as one specification ("Prometheus and OpenMetrics Compatibility") says how an instrument becomes a metric: the
# unit is a suffix. It joins the values of attributes whose names become the same: a_b="x;y".
# Found: JavaScript adds no unit, and Python does, so a dashboard of one language finds nothing in the other. Of a.b and a_b, JavaScript
# writes one label twice, so that a reader of the format refuses the whole answer, and Python drops the first.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @opentelemetry/exporter-prometheus@0.223.0 @opentelemetry/sdk-metrics@2.12.1 @opentelemetry/api@1.9.1
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check opentelemetry-exporter-prometheus==0.66b2 opentelemetry-sdk==1.45.2 prometheus_client==0.26.0
cat > check.mjs <<'JS'
import exporter from "@opentelemetry/exporter-prometheus";
import sdk from "@opentelemetry/sdk-metrics";

class Reader extends sdk.MetricReader {
  async onForceFlush() {}
  async onShutdown() {}
}
const reader = new Reader();
const meter = new sdk.MeterProvider({ readers: [reader] }).getMeter("a");
meter.createCounter("sent", { unit: "By" }).add(1, { "a.b": "x", a_b: "y" });
meter.createGauge("wait", { unit: "ms" }).record(2);
meter.createGauge("speed", { unit: "m/s" }).record(3);
const { resourceMetrics } = await reader.collect();
console.log(new exporter.PrometheusSerializer().serialize(resourceMetrics));
JS
cat > check.py <<'PY'
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import MeterProvider
from prometheus_client import REGISTRY, generate_latest

meter = MeterProvider(metric_readers=[PrometheusMetricReader()]).get_meter("a")
meter.create_counter("sent", unit="By").add(1, {"a.b": "x", "a_b": "y"})
meter.create_gauge("wait", unit="ms").set(2)
meter.create_gauge("speed", unit="m/s").set(3)
print(generate_latest(REGISTRY).decode())
PY
cat > read.py <<'PY'
import re, sys
from prometheus_client.parser import text_string_to_metric_families

name, text = sys.argv[1], sys.stdin.read()
for line in re.findall(r"^(?:sent|wait|speed).*", text, re.M):
    print(f"{name}:", re.sub(r",?otel_scope_\w+=\"[^\"]*\"", "", line))
try:
    print(f"{name} is read: {len(list(text_string_to_metric_families(text))) > 0}")
except ValueError as error:
    print(f"{name} is refused:", type(error).__name__)
PY
{ node check.mjs | venv/bin/python read.py JavaScript; venv/bin/python check.py | venv/bin/python read.py Python; } | tee found
diff found - <<'TEXT'
JavaScript: sent_total{a_b="x",a_b="y"} 1
JavaScript: wait{} 2
JavaScript: speed{} 3
JavaScript is refused: ValueError
Python: sent_bytes_total{a_b="y"} 1.0
Python: wait_milliseconds{} 2.0
Python: speed_meters_per_second{} 3.0
Python is read: True
TEXT
