import fc from "fast-check";

/** Part of all generated text, so that responses can be searched for it. */
export const MARK = "qZx7markOfTheAttacker";

export const NASTY = [
  "\0",
  "\ud800",
  "\u202e",
  "%00",
  "%0d%0aX-Injected: 1",
  "\r\nX-Injected: 1",
  "<script>alert(1)</script>",
  "' or '1'='1",
  "${7*7}",
  "../../etc/passwd",
  "__proto__",
  "a".repeat(3_000),
];

/** Text that may cause errors. */
export const junkText = fc
  .oneof(fc.constantFrom(...NASTY), fc.string({ unit: "binary", maxLength: 20 }))
  .map((text) => text + MARK);

const NUMBERS = [0, -0, -1, 1.5, 201, 2 ** 31, 2 ** 53, 1e21, 1e308, -1e308];

/** JSON values that are rarely valid for a member. */
export const junkValue: fc.Arbitrary<unknown> = fc.oneof(
  junkText,
  fc.constantFrom<unknown>(null, true, ...NUMBERS, "", [], {}, [[[]]]),
  junkText.map((text) => [text, text]),
  junkText.map((text) => ({ [text]: text })),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Names of members, parameters and headers that libraries may treat specially. */
export const junkName = fc.constantFrom(
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "then",
  "a[b]",
  "a[]",
  "",
  MARK,
);

/** Bodies that are not JSON, or too large. */
export const junkBody = fc.oneof(
  fc.constantFrom(
    "",
    "{",
    "[]",
    "null",
    "NaN",
    `"${MARK}"`,
    `{"${MARK}`,
    '{"a":1e400}',
    "\xef\xbb\xbf{}",
    "\xff\xfe{\0}\0",
    '{"__proto__":{"polluted":true}}',
    '{"constructor":{"prototype":{"polluted":true}}}',
    "[".repeat(30_000),
    `${"[".repeat(30_000)}${"]".repeat(30_000)}`,
    '{"a":'.repeat(10_000),
    "1".repeat(60_000),
    `{"url":"${"x".repeat(70_000)}"}`,
  ),
  junkText,
  junkValue.map((value) => JSON.stringify(value)),
);
