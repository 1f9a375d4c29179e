#!/usr/bin/env bash
# js-yaml 5.5.0 beside 4.1.1 and yaml 2.9.1 (npm), `load` and `dump` without options.
#
# Expected: as in js-yaml 3 and 4, a merge key merges, a date is a Date, and `load` reads what `dump` writes.
# Found: `load` resolves YAML 1.2's core schema alone now. A merge key stays a member "<<" without a word, so a service of a Compose file
# loses what it takes from an anchor. Dates are texts. `dump` still writes the other types: a Buffer and a Set
# become tags that `load` refuses, and a Date comes back as a text. `YAML11_SCHEMA` brings the old reading back. yaml 2.9.1 does not merge
# either, but writes no tag that it cannot read.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts js-yaml-5@npm:js-yaml@5.5.0 js-yaml-4@npm:js-yaml@4.1.1 yaml@2.9.1
cat > check.mjs <<'JS'
import four from "js-yaml-4";
import * as five from "js-yaml-5";
import YAML from "yaml";

const merged = "base: &base { restart: always }\nweb:\n  <<: *base\n  image: web\n";
const old = { load: (text) => five.load(text, { schema: five.YAML11_SCHEMA }), dump: five.dump };
const libraries = { "js-yaml 4": four, "js-yaml 5": five, "js-yaml 5 with YAML11_SCHEMA": old, "yaml 2": { load: YAML.parse, dump: YAML.stringify } };
for (const [name, { load, dump }] of Object.entries(libraries)) {
  const kind = (value) => value?.constructor.name;
  const back = (value) => {
    try {
      return kind(load(dump({ value })).value);
    } catch (error) {
      return error.message.split("\n")[0];
    }
  };
  console.log(`${name}: web is ${JSON.stringify(load(merged).web)}, 2026-01-01 is a ${kind(load("2026-01-01"))}`);
  console.log(`  read again: Date ${back(new Date(0))}, Buffer ${back(Buffer.from("a"))}, Set ${back(new Set(["a"]))}`);
}
JS
node check.mjs 2>&1 | tee found
diff found - <<'TEXT'
js-yaml 4: web is {"restart":"always","image":"web"}, 2026-01-01 is a Date
  read again: Date Date, Buffer Uint8Array, Set unacceptable kind of an object to dump [object Set]
js-yaml 5: web is {"<<":{"restart":"always"},"image":"web"}, 2026-01-01 is a String
  read again: Date String, Buffer unknown scalar tag !<tag:yaml.org,2002:binary> (1:8), Set unknown mapping tag !<tag:yaml.org,2002:set> (1:8)
js-yaml 5 with YAML11_SCHEMA: web is {"restart":"always","image":"web"}, 2026-01-01 is a Date
  read again: Date Date, Buffer Uint8Array, Set Set
yaml 2: web is {"<<":{"restart":"always"},"image":"web"}, 2026-01-01 is a String
  read again: Date String, Buffer Object, Set Array
TEXT
