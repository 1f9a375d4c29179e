#!/usr/bin/env bash
# The JSON of Protocol Buffers in Python: betterproto2 0.10.0 with its compiler 0.10.1 and protoc of grpcio-tools 1.85.1, beside protobuf 7.36.2,
# Google's library (all PyPI). Each message goes from one library to the other, and betterproto2 reads what it wrote.
#
# Expected: the well-known types are written as ProtoJSON says: a mask of fields and an Int64Value are texts, and a duration may be
# negative. Times have nanoseconds.
# Found: betterproto2 encodes -1.500s in binary as -1 second and +500000000 nanoseconds, which Google's library refuses to write as JSON. In
# JSON it writes -1.500s, which it refuses to read. It writes an Int64Value as a number, which a reader in JavaScript rounds, and refuses
# the text that Google's library writes. It neither writes nor reads the text of a mask. Of a time's nine digits it drops three.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check betterproto2==0.10.0 betterproto2_compiler==0.10.1 grpcio-tools==1.85.1 protobuf==7.36.2
cat > event.proto <<'PROTO'
syntax = "proto3";
package event;
import "google/protobuf/duration.proto";
import "google/protobuf/field_mask.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
message Event {
  google.protobuf.Duration wait = 1;
  google.protobuf.Int64Value amount = 2;
  google.protobuf.FieldMask changed = 3;
  google.protobuf.Timestamp at = 4;
}
PROTO
mkdir by_google by_betterproto
PATH="$folder/venv/bin:$PATH" python -m grpc_tools.protoc -I. --python_out=by_google --python_betterproto2_out=by_betterproto event.proto 2> /dev/null
cat > check.py <<'PY'
import json
import by_betterproto.event as betterproto
from by_google import event_pb2 as google
from google.protobuf import json_format

def verdict(read, text):
    try:
        return f"reads {read(text)}"
    except Exception as error:
        return f"refuses it: {type(error).__name__}"

def google_reads(text):
    return json_format.MessageToJson(json_format.Parse(text, google.Event()), indent=None)

def betterproto_reads(text):
    return betterproto.Event.parse(bytes(betterproto.Event.from_dict(json.loads(text)))).to_json()

def google_reads_bytes(content):
    return json_format.MessageToJson(google.Event.FromString(content), indent=None)

fields = [{"wait": "1.500s"}, {"wait": "-1.500s"}, {"amount": "9007199254740993"}, {"changed": "note,unitPrice"}, {"at": "2026-01-02T03:04:05.678901234Z"}]
for field in fields:
    message = json_format.ParseDict(field, google.Event())
    by_google = json_format.MessageToJson(message, indent=None)
    copy = betterproto.Event.parse(message.SerializeToString())
    by_betterproto = copy.to_json()
    print("Google writes", by_google)
    print("  betterproto2", verdict(betterproto_reads, by_google))
    print("  betterproto2 writes", by_betterproto)
    print("    betterproto2", verdict(betterproto_reads, by_betterproto))
    print("    Google", verdict(google_reads, by_betterproto))
    print("  betterproto2 writes bytes:", "the same" if bytes(copy) == message.SerializeToString() else bytes(copy).hex())
    print("    Google", verdict(google_reads_bytes, bytes(copy)))
PY
venv/bin/python check.py | tee found
diff found - <<'TEXT'
Google writes {"wait": "1.500s"}
  betterproto2 reads {"wait": "1.500s"}
  betterproto2 writes {"wait": "1.500s"}
    betterproto2 reads {"wait": "1.500s"}
    Google reads {"wait": "1.500s"}
  betterproto2 writes bytes: the same
    Google reads {"wait": "1.500s"}
Google writes {"wait": "-1.500s"}
  betterproto2 refuses it: ValueError
  betterproto2 writes {"wait": "-1.500s"}
    betterproto2 refuses it: ValueError
    Google reads {"wait": "-1.500s"}
  betterproto2 writes bytes: 0a1108ffffffffffffffffff011080cab5ee01
    Google refuses it: SerializeToJsonError
Google writes {"amount": "9007199254740993"}
  betterproto2 refuses it: TypeError
  betterproto2 writes {"amount": 9007199254740993}
    betterproto2 reads {"amount": 9007199254740993}
    Google reads {"amount": "9007199254740993"}
  betterproto2 writes bytes: the same
    Google reads {"amount": "9007199254740993"}
Google writes {"changed": "note,unitPrice"}
  betterproto2 refuses it: AttributeError
  betterproto2 writes {"changed": {"paths": ["note", "unit_price"]}}
    betterproto2 reads {"changed": {"paths": ["note", "unit_price"]}}
    Google refuses it: ParseError
  betterproto2 writes bytes: the same
    Google reads {"changed": "note,unitPrice"}
Google writes {"at": "2026-01-02T03:04:05.678901234Z"}
  betterproto2 reads {"at": "2026-01-02T03:04:05.678901Z"}
  betterproto2 writes {"at": "2026-01-02T03:04:05.678901Z"}
    betterproto2 reads {"at": "2026-01-02T03:04:05.678901Z"}
    Google reads {"at": "2026-01-02T03:04:05.678901Z"}
  betterproto2 writes bytes: 220c08a5ebdcca061088eadcc302
    Google reads {"at": "2026-01-02T03:04:05.678901Z"}
TEXT
