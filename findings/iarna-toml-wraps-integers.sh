#!/usr/bin/env bash
# @iarna/toml 3.0.0 (npm) beside smol-toml 1.9.1 and toml 5.0.1 (npm).
#
# Expected: an integer of more than 64 bits is refused, as TOML 1.0 asks for an error where an integer is not kept without loss. What a
# library writes, it can read.
# Found: @iarna/toml cuts it to 64 bits, sign and all: a positive number becomes a negative one, without a word. It writes the float
# 123456789012345680000 as an integer, and reads its own text as a negative number. It cannot read the text that it writes for 1e-7.
# The others refuse the integer.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @iarna/toml@3.0.0 smol-toml@1.9.1 toml@5.0.1
cat > check.mjs <<'JS'
import iarna from "@iarna/toml";
import * as smol from "smol-toml";
import toml from "toml";

const trying = (work) => {
  try {
    return String(work());
  } catch {
    return "refused";
  }
};
for (const [name, { parse }] of Object.entries({ "@iarna/toml": iarna, "smol-toml": smol, "toml": toml }))
  console.log(`${name} reads 12345678901234567890:`, trying(() => parse("a = 12345678901234567890").a));
for (const [name, { parse, stringify }] of Object.entries({ "@iarna/toml": iarna, "smol-toml": smol }))
  for (const a of [1e-7, 123456789012345680000]) {
    const text = stringify({ a }).trim();
    console.log(`${name} writes ${text} and reads:`, trying(() => parse(text).a));
  }
JS
node check.mjs | tee found
diff found - <<'TEXT'
@iarna/toml reads 12345678901234567890: -6101065172474983726
smol-toml reads 12345678901234567890: refused
toml reads 12345678901234567890: refused
@iarna/toml writes a = 1e-7.undefined and reads: refused
@iarna/toml writes a = 123_456_789_012_345_680_000 and reads: -5670419503621181312
smol-toml writes a = 1e-7 and reads: 1e-7
smol-toml writes a = 123456789012345683968.0 and reads: 123456789012345680000
TEXT
