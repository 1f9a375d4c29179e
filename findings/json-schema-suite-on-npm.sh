#!/usr/bin/env bash
# json-schema-test-suite 0.0.10 and @json-schema-org/tests 2.0.0 of npm; jsonschema 4.25.1 of PyPI.
#
# Expected: the npm packages of the official test suite of JSON Schema hold its current draft, 2020-12.
# Found: they hold no file of 2020-12. The source archive of PyPI's jsonschema holds the whole suite, with the
# remote schemas, so that is where a test can take it from.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for package in json-schema-test-suite@0.0.10 @json-schema-org/tests@2.0.0; do
  archive=$(npm pack --silent "$package")
  echo "$package: $(tar tzf "$archive" | grep -oE 'draft[0-9]+(-[0-9]+)?/' | sort -u | tr -d '\n')"
  ! tar tzf "$archive" | grep -q 'draft2020-12/'
done
python3 -m pip download --quiet --no-deps --no-binary :all: jsonschema==4.25.1
count=$(tar tzf jsonschema-4.25.1.tar.gz | grep -c 'json/tests/draft2020-12/.*\.json$')
echo "jsonschema 4.25.1: $count files of draft2020-12"
test "$count" -gt 40
