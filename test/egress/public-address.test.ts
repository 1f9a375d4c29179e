import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Cidr, parseCidr } from "../../src/lib/ip-address.ts";
import { isContactable } from "../../src/egress/address-policy.ts";
import { SPECIAL_BLOCKS } from "../../src/egress/address-policy.ts";
import {
  BLOCKS,
  dottedText6,
  isPublic,
  isPublicByTheList,
  rows,
  shortText6,
  text4,
  text6,
} from "./special-addresses.ts";

const nothing = { allow: [], deny: [] };

const anyAddress4 = fc.bigInt(0n, (1n << 32n) - 1n);
const anyAddress6 = fc.bigInt(0n, (1n << 128n) - 1n);
const globalUnicast = fc.bigInt(1n << 125n, (1n << 126n) - 1n);

/** Half of the addresses lie near a border, which uniformly random ones hardly ever do. */
function nearBlocks(family: 4 | 6) {
  const highest = (1n << (family === 4 ? 32n : 128n)) - 1n;
  const blocks = BLOCKS.filter((block) => block.family === family);
  return fc
    .tuple(fc.constantFrom(...blocks), fc.boolean(), fc.bigInt(-2n, 2n))
    .map(([{ first, last }, atStart, offset]) => (atStart ? first : last) + offset)
    .filter((address) => address >= 0n && address <= highest);
}

function insideBlocks(family: 4 | 6) {
  return fc
    .constantFrom(...BLOCKS.filter((block) => block.family === family))
    .chain(({ first, last }) => fc.bigInt(first, last));
}

test("the table in the code equals the published list", () => {
  const rules = ["*:0:5efe:*.*/ISATAP", "everything outside 2000::/3"];
  const blocks = rows().filter(([block]) => !rules.includes(block));
  assert.equal(blocks.length, rows().length - rules.length);
  assert.deepEqual(SPECIAL_BLOCKS, blocks);
});

for (const { text, name, family, first, last } of BLOCKS) {
  test(`${text} (${name}) is not public, from its first address to its last`, () => {
    const write = family === 4 ? text4 : text6;
    for (const address of [first, (first + last) / 2n, last]) {
      assert.equal(isPublic(write(address)), false, write(address));
    }
  });
}

test("every IPv4 address is judged by the list", () => {
  const addresses = fc.oneof(anyAddress4, nearBlocks(4), insideBlocks(4));
  fc.assert(
    fc.property(addresses, (address) => {
      assert.equal(isPublic(text4(address)), isPublicByTheList(4, address));
    }),
    { numRuns: 3_000 },
  );
});

test("every IPv6 address is judged by the list, in every written form", () => {
  const addresses = fc.oneof(anyAddress6, globalUnicast, nearBlocks(6), insideBlocks(6));
  const forms = [text6, dottedText6, shortText6, (a: bigint) => text6(a).toUpperCase()];
  fc.assert(
    fc.property(addresses, (address) => {
      for (const write of forms) {
        assert.equal(isPublic(write(address)), isPublicByTheList(6, address), write(address));
      }
    }),
    { numRuns: 3_000 },
  );
});

const embeddingPrefix = fc.bigInt(0x2000_0000_0000_0000n, 0x3fff_ffff_ffff_ffffn);
const embeddingRest = fc.bigInt(0n, (1n << 64n) - 1n);

/** The address in every IPv6 form that embeds one. `prefix` and `rest` fill the other bits. */
function embeddings(v4: bigint, prefix: bigint, rest: bigint): [form: string, v6: bigint][] {
  const localNat64 = 0x64_ff9b_0001n << 80n;
  const isatap = (prefix << 64n) | (0x5efen << 32n) | v4;
  return [
    ["IPv4-compatible", v4],
    ["IPv4-mapped", (0xffffn << 32n) | v4],
    ["IPv4-translated", (0xffff_0000n << 32n) | v4],
    ["NAT64", (0x64_ff9bn << 96n) | v4],
    ["local NAT64, /96", localNat64 | ((prefix & 0xffffn) << 64n) | v4],
    // With prefixes of 48 and 56 bits, RFC 6052 splits the address around bits 64 to 71.
    ["local NAT64, /48", localNat64 | ((v4 >> 16n) << 64n) | ((v4 & 0xffffn) << 40n)],
    ["local NAT64, /56", localNat64 | ((v4 >> 24n) << 64n) | ((v4 & 0xff_ffffn) << 32n)],
    ["local NAT64, /64", localNat64 | (v4 << 24n)],
    ["6to4", (0x2002n << 112n) | (v4 << 80n) | rest],
    ["Teredo server", (0x2001_0000n << 96n) | (v4 << 64n) | rest],
    ["Teredo client", (0x2001_0000n << 96n) | (rest & (0xffff_ffffn << 32n)) | (v4 ^ 0xffff_ffffn)],
    ["ISATAP", isatap],
    ["ISATAP, universal", isatap | (0x0200_0000n << 32n)],
  ];
}

test("no IPv6 address that embeds an IPv4 address is public, not even a public one", () => {
  const address = fc.oneof(anyAddress4, nearBlocks(4));
  fc.assert(
    fc.property(address, embeddingPrefix, embeddingRest, (v4, prefix, rest) => {
      for (const [form, v6] of embeddings(v4, prefix, rest)) {
        for (const written of [text6(v6), dottedText6(v6), shortText6(v6)]) {
          assert.equal(isContactable(written, nothing), false, `${form}: ${written}`);
        }
      }
    }),
    { numRuns: 500 },
  );
});

test("an address that embeds a denied IPv4 address is denied, even if all of IPv6 is allowed", () => {
  const allow = [parsed("::/0")];
  // Without 0.0.0.0 and 0.0.0.1, whose compatible forms are :: and ::1.
  const address = fc.bigInt(2n, (1n << 32n) - 1n);
  const bits = fc.bigInt(0n, 24n);
  fc.assert(
    fc.property(address, bits, embeddingPrefix, embeddingRest, (v4, spared, prefix, rest) => {
      const deny = [parsed(`${text4((v4 >> spared) << spared)}/${32n - spared}`)];
      assert.equal(isContactable(text4(v4), { allow: [parsed("0.0.0.0/0")], deny }), false);
      for (const [form, v6] of embeddings(v4, prefix, rest)) {
        assert.equal(isContactable(text6(v6), { allow, deny: [] }), true, form);
        assert.equal(isContactable(text6(v6), { allow, deny }), false, `${form}: ${text6(v6)}`);
      }
    }),
    { numRuns: 500 },
  );
});

test("denying all of IPv4 denies no IPv6 address without an embedded one", () => {
  const deny = [parsed("0.0.0.0/0")];
  const address = fc.oneof(globalUnicast, anyAddress6);
  fc.assert(
    fc.property(address, (v6) => {
      assert.equal(isContactable(text6(v6), { allow: [], deny }), isPublic(text6(v6)));
    }),
    { numRuns: 1_000 },
  );
  assert.equal(isContactable("::1", { allow: [parsed("::1/128")], deny }), true);
});

const notAddresses = [
  "",
  " ",
  "localhost",
  "example.com",
  "1",
  "127.1",
  "0177.0.0.1",
  "0x7f.0.0.1",
  "1.2.3.04",
  "1.2.3",
  "1.2.3.4.",
  "1.2.3.4.5",
  "256.1.1.1",
  "1.2.3.-4",
  "+1.2.3.4",
  "1.2.3.4 ",
  "1.2.3.4\n",
  "1.2.3.4\0",
  "١.٢.٣.٤",
  "93.184.215.14:443",
  "93.184.215.14/32",
  "1e1.2.3.4",
  "...",
  "[2606:4700::1111]",
  "2606:4700::1111%eth0",
  "2606:4700::1111%",
  "fe80::1%1",
  ":",
  ":::",
  "2606:4700::11111",
  "2606::4700::1",
  ":2606:4700::1",
  "2606:4700::1:",
  "2606:4700:1",
  "1:2:3:4:5:6:7:8:9",
  "1:2:3:4:5:6:7:8::",
  "::1:2:3:4:5:6:7:8",
  "1:2:3:4::5:6:7:8",
  "2606::g",
  "2606::1.2.3",
  "2606::1.2.3.04",
  "1.2.3.4::",
  "2606::1.2.3.4:1",
  "2606:4700::1 ",
  "2606:1.2.3.4",
  "1:2:3:4:5:6:7:1.2.3.4",
  "2606::0x1",
  "2606::-1",
  "2606:4700::1/128",
];

test("text that is not an address in the form of DNS or a socket is never contacted", () => {
  const all = [parsed("0.0.0.0/0"), parsed("::/0")];
  for (const text of notAddresses) {
    assert.equal(isPublic(text), false, JSON.stringify(text));
    assert.equal(isContactable(text, { allow: all, deny: [] }), false, JSON.stringify(text));
  }
});

test("an address with a zone id is never contacted, even if the operator allows the address", () => {
  const policy = { allow: [parsed("fe80::/10")], deny: [] };
  assert.equal(isContactable("fe80::1", policy), true);
  assert.equal(isContactable("fe80::1%eth0", policy), false);
});

test("the operator can allow single blocks of addresses that are not public", () => {
  const policy = { allow: [parsed("127.0.0.2/32"), parsed("::1/128")], deny: [] };
  assert.equal(isContactable("127.0.0.2", policy), true);
  assert.equal(isContactable("::1", policy), true);
  assert.equal(isContactable("127.0.0.1", policy), false);
  assert.equal(isContactable("127.0.0.3", policy), false);
  assert.equal(isContactable("::", policy), false);
  assert.equal(
    isContactable("93.184.215.14", policy),
    true,
    "other addresses are judged as before",
  );
});

test("a denied block takes precedence over public and allowed addresses", () => {
  const policy = {
    allow: [parsed("10.0.0.0/8")],
    deny: [parsed("10.9.0.0/16"), parsed("93.0.0.0/8")],
  };
  assert.equal(isContactable("10.8.0.1", policy), true);
  assert.equal(isContactable("10.9.0.1", policy), false);
  assert.equal(isContactable("93.184.215.14", policy), false);
  assert.equal(isContactable("94.184.215.14", policy), true);
});

test("an allowed IPv4 address is also allowed as ::ffff:, but not embedded otherwise", () => {
  const policy = { allow: [parsed("127.0.0.2/32")], deny: [] };
  assert.equal(isContactable("::ffff:127.0.0.2", policy), true);
  assert.equal(isContactable("::ffff:7f00:2", policy), true);
  assert.equal(isContactable("::ffff:127.0.0.3", policy), false);
  const others = [
    "::127.0.0.2",
    "::ffff:0:127.0.0.2",
    "64:ff9b::127.0.0.2",
    "2002:7f00:2::",
    "64:ff9b::ffff:127.0.0.2",
    "0:0:1::ffff:127.0.0.2",
  ];
  for (const other of others) {
    assert.equal(isContactable(other, policy), false, other);
  }
});

test("a denied IPv4 address is also denied as ::ffff:, even if all of IPv6 is allowed", () => {
  const policy = { allow: [parsed("::/0")], deny: [parsed("10.0.0.0/8")] };
  assert.equal(isContactable("::ffff:11.0.0.1", policy), true);
  assert.equal(isContactable("::ffff:10.0.0.1", policy), false);
});

test("allowing all of IPv6 allows no IPv4 address", () => {
  const policy = { allow: [parsed("::/0")], deny: [] };
  assert.equal(isContactable("127.0.0.1", policy), false);
  assert.equal(isContactable("::1", policy), true);
});

function parsed(text: string): Cidr {
  const cidr = parseCidr(text);
  assert.ok(cidr, text);
  return cidr;
}
