#!/usr/bin/env bash
# OTLP in JSON: @opentelemetry/otlp-transformer 0.223.1 (npm), which writes what the exporters for HTTP of JavaScript send, and
# go.opentelemetry.io/collector/pdata 1.71.0 (Go module), by which the OpenTelemetry Collector reads it.
#
# Expected: a number that is none, as a ratio of nothing is, arrives as NaN. The JSON of Protocol Buffers writes "NaN".
# Found: JavaScript writes null, and the reader refuses the whole request, with every other metric in it. The same holds for an attribute
# of a resource. By protobuf, the exporters' other format, NaN arrives.
set -euo pipefail
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @opentelemetry/otlp-transformer@0.223.1 @opentelemetry/api@1.9.1
cat > write.mjs <<'JS'
import transformer from "@opentelemetry/otlp-transformer";

const request = (number, attribute) => ({
  resource: { attributes: { attribute } },
  scopeMetrics: [
    {
      scope: { name: "a" },
      metrics: [
        {
          descriptor: { name: "ratio", description: "", unit: "", valueType: 1, type: "GAUGE" },
          dataPointType: 2,
          dataPoints: [{ startTime: [1, 0], endTime: [2, 0], attributes: {}, value: number }],
        },
      ],
    },
  ],
});
for (const each of [request(0.5, 1), request(NaN, 1), request(Infinity, 1), request(0.5, NaN)]) {
  const { JsonMetricsSerializer: json, ProtobufMetricsSerializer: protobuf } = transformer;
  const encoded = [json, protobuf].map((format) => Buffer.from(format.serializeRequest(each)).toString("base64"));
  console.log(encoded.join(" "));
}
JS
mkdir read
cat > read/main.go <<'GO'
package main

import (
	"encoding/base64"
	"fmt"

	"go.opentelemetry.io/collector/pdata/pmetric"
)

func read(format string, unmarshaler pmetric.Unmarshaler, encoded string) {
	bytes, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		panic(err)
	}
	metrics, err := unmarshaler.UnmarshalMetrics(bytes)
	if err != nil {
		fmt.Println(format, "is refused")
		return
	}
	resource := metrics.ResourceMetrics().At(0)
	attribute, _ := resource.Resource().Attributes().Get("attribute")
	number := resource.ScopeMetrics().At(0).Metrics().At(0).Gauge().DataPoints().At(0).DoubleValue()
	fmt.Println(format, "is read:", number, attribute.AsString())
}

func main() {
	for {
		var json, protobuf string
		if _, err := fmt.Scan(&json, &protobuf); err != nil {
			return
		}
		read("JSON", &pmetric.JSONUnmarshaler{}, json)
		read("protobuf", &pmetric.ProtoUnmarshaler{}, protobuf)
	}
}
GO
export GOPATH="$folder/go" GOFLAGS=-modcacherw
cd read
go mod init example.com/read 2>/dev/null
go get go.opentelemetry.io/collector/pdata@v1.71.0 >go.log 2>&1 || { cat go.log; exit 1; }
go mod tidy >go.log 2>&1 || { cat go.log; exit 1; }
node ../write.mjs | go run . | tee ../found
cd ..
diff found - <<'TEXT'
JSON is read: 0.5 1
protobuf is read: 0.5 1
JSON is refused
protobuf is read: NaN 1
JSON is refused
protobuf is read: +Inf 1
JSON is refused
protobuf is read: 0.5 NaN
TEXT
