import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { contains, parseCidr } from "../../src/lib/ip-address.ts";
import { parseAddress } from "../../src/lib/ip-address.ts";
import { text4, text6 } from "./special-addresses.ts";

const families = [
  { name: "IPv4", bits: 32, write: text4 },
  { name: "IPv6", bits: 128, write: text6 },
];

for (const { name, bits, write } of families) {
  const anyAddress = fc.bigInt(0n, (1n << BigInt(bits)) - 1n);

  test(`an ${name} block contains exactly the addresses that share its prefix`, () => {
    const cases = fc.tuple(anyAddress, fc.integer({ min: 0, max: bits }), anyAddress, fc.boolean());
    fc.assert(
      fc.property(cases, ([base, prefix, other, stray]) => {
        const rest = BigInt(bits - prefix);
        const network = (base >> rest) << rest;
        const address = stray ? other : network | (other & ((1n << rest) - 1n));

        const cidr = parseCidr(`${write(network)}/${prefix}`);
        const parsed = parseAddress(write(address));
        assert.ok(cidr && parsed);
        assert.equal(contains(cidr, parsed), address >> rest === network >> rest);
      }),
      { numRuns: 1_000 },
    );
  });

  test(`an ${name} block with a bit set beyond its prefix is refused`, () => {
    const cases = fc.tuple(anyAddress, fc.integer({ min: 0, max: bits - 1 }));
    fc.assert(
      fc.property(cases, ([base, prefix]) => {
        const rest = BigInt(bits - prefix);
        const network = (base >> rest) << rest;
        const stray = 1n << (base % rest);
        assert.notEqual(parseCidr(`${write(network)}/${prefix}`), null);
        assert.equal(parseCidr(`${write(network | stray)}/${prefix}`), null);
      }),
      { numRuns: 1_000 },
    );
  });
}

const notBlocks = [
  "",
  "/",
  "/8",
  "10.0.0.0",
  "10.0.0.0/",
  "10.0.0.0/33",
  "10.0.0.0/-1",
  "10.0.0.0/08",
  "10.0.0.0/8/8",
  "10.0.0.0/8 ",
  " 10.0.0.0/8",
  "10.0.0.0/ 8",
  "10.0.0.0/+8",
  "10.0.0.0/8.0",
  "10.0.0.0/0x8",
  "10.0.0.0/1e1",
  "10/8",
  "010.0.0.0/8",
  "10.0.0.0/255.0.0.0",
  "::1",
  "::/129",
  "::/1280",
  "fe80::%eth0/10",
  "[::]/0",
  "example.com/8",
  "10.0.0.1/8",
  "fd00::1/8",
];

for (const text of notBlocks) {
  test(`"${text}" is not a block`, () => {
    assert.equal(parseCidr(text), null);
  });
}

test("a block contains no address of the other family", () => {
  const [all4, all6] = [parseCidr("0.0.0.0/0"), parseCidr("::/0")];
  const [one4, one6] = [parseAddress("1.2.3.4"), parseAddress("::1.2.3.4")];
  assert.ok(all4 && all6 && one4 && one6);
  assert.deepEqual([contains(all4, one4), contains(all4, one6)], [true, false]);
  assert.deepEqual([contains(all6, one4), contains(all6, one6)], [false, true]);
});
