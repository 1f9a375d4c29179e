#!/usr/bin/env bash
# prom-client 15.1.3 (npm) writes a counter, and prometheus_client 0.26.0 (PyPI) reads it and writes it again, as a program does that passes
# metrics on.
#
# Expected: the name stays. The text format does not require a counter's name to end in _total; OpenMetrics does.
# Found: the parser of the text format adds _total to the counter's samples, so `jobs` is `jobs_total` from then on, and a query for the
# old name finds nothing. A gauge keeps its name. A name in quotes, as Prometheus 3 allows it, is read, and written with underscores, so
# that queue.jobs and queue_jobs become one name.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts prom-client@15.1.3
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check prometheus_client==0.26.0
cat > write.mjs <<'JS'
import { Counter, Gauge, register } from "prom-client";

new Counter({ name: "jobs", help: "Jobs." }).inc(2);
new Gauge({ name: "waiting", help: "Waiting." }).set(3);
console.log(await register.metrics());
console.log('# HELP "queue.jobs" Waiting.\n# TYPE "queue.jobs" gauge\n{"queue.jobs"} 4');
JS
cat > read.py <<'PY'
import sys
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

families = list(text_string_to_metric_families(sys.stdin.read()))
for family in families:
    print("read:", family.type, *[sample.name for sample in family.samples])

class Received:
    def collect(self):
        return families

registry = CollectorRegistry()
registry.register(Received())
print(*[line for line in generate_latest(registry).decode().splitlines() if line[0] != "#"], sep="\n")
PY
node write.mjs > written
grep -v '^#' written | grep .
venv/bin/python read.py < written | tee found
diff found - <<'TEXT'
read: counter jobs_total
read: gauge waiting
read: gauge queue.jobs
jobs_total 2.0
waiting 3.0
queue_jobs 4.0
TEXT
