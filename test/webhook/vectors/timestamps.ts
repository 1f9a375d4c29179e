import { aCase, EVENT, mac, NOW, SECRET } from "./case.ts";

const SIGNATURE = `sha256=${mac(SECRET, `${NOW}.`, EVENT)}`;
const MINUTES_5 = 300_000;

/** Unless a case says otherwise, the timestamp's text is signed, so that only its form is wrong. */
export const TIMESTAMPS = [
  aCase("malformed", "no timestamp", { headers: [["X-VC-Signature", SIGNATURE]] }),
  malformed("an empty timestamp", ""),
  malformed("a timestamp with a plus sign", `+${NOW}`),
  malformed("a timestamp with a minus sign", `-${NOW}`),
  malformed("a timestamp with a space before it", ` ${NOW}`),
  malformed("a timestamp with a space after it", `${NOW} `),
  malformed("a timestamp with a space inside", "1767225600 123"),
  malformed("a timestamp with a tab before it", `\t${NOW}`),
  malformed("a timestamp with a line break after it", `${NOW}\n`),
  malformed("a timestamp with a zero byte after it", `${NOW}\0`),
  malformed("a timestamp with a fraction", `${NOW}.5`),
  malformed("a timestamp with a fraction of zero", `${NOW}.0`),
  malformed("a timestamp with a final dot", `${NOW}.`),
  malformed("a timestamp in seconds with a fraction", "1767225600.123"),
  malformed("a timestamp with an exponent", `${NOW}e0`),
  malformed("a timestamp as a power of ten", "1.767225600123e12"),
  malformed("a timestamp with underscores", "1_767_225_600_123"),
  malformed("a timestamp with commas", "1,767,225,600,123"),
  malformed("a timestamp in hexadecimal", `0x${NOW.toString(16)}`),
  malformed("a timestamp in octal", `0o${NOW.toString(8)}`),
  malformed("a timestamp with letters after it", `${NOW}ms`),
  malformed("a timestamp as a date", "2026-01-01T00:00:00.123Z"),
  malformed("a timestamp in words", "now"),
  malformed("a timestamp that is not a number", "NaN"),
  malformed("an infinite timestamp", "Infinity"),
  malformed("a timestamp in quotes", `"${NOW}"`),
  malformed("a timestamp in Arabic digits", digitsFrom(0x660)),
  malformed("a timestamp in full-width digits", digitsFrom(0xff10)),
  malformed("a timestamp in microseconds", `${NOW}000`),
  malformed("a timestamp just over 2^53", "9007199254740993"),
  malformed("a timestamp just over 2^63", "9223372036854775808"),
  malformed("a timestamp that wraps to now in 64 bits", String(2n ** 64n + BigInt(NOW))),
  malformed("a timestamp of a thousand digits", "1".repeat(1_000)),
  malformed("two timestamps in one header", `${NOW}, ${NOW}`),
  aCase("malformed", "two headers with the same timestamp", {
    headers: [
      ["X-VC-Signature", SIGNATURE],
      ["X-VC-Timestamp", String(NOW)],
      ["X-VC-Timestamp", String(NOW)],
    ],
  }),
  aCase("malformed", "signature and timestamp swapped", {
    signature: String(NOW),
    timestamp: SIGNATURE,
  }),

  at("valid", "a delivery exactly five minutes old", NOW + MINUTES_5),
  at("valid", "a delivery exactly five minutes ahead", NOW - MINUTES_5),
  at("stale", "a delivery one millisecond more than five minutes old", NOW + MINUTES_5 + 1),
  at("stale", "a delivery one millisecond more than five minutes ahead", NOW - MINUTES_5 - 1),
  at("stale", "a delivery of yesterday", NOW + 86_400_000),
  at("stale", "a delivery of tomorrow", NOW - 86_400_000),
  aCase("stale", "a timestamp in seconds", { timestamp: "1767225600" }),
  aCase("stale", "a timestamp of zero", { timestamp: "0" }),
  aCase("stale", "a timestamp of fifteen nines", { timestamp: "9".repeat(15) }),

  aCase("forged", "another time than the signed one", {
    timestamp: String(NOW + 1),
    signature: SIGNATURE,
  }),
  aCase("forged", "an old delivery under a new time", {
    timestamp: String(NOW + 86_400_000),
    signature: SIGNATURE,
    now: NOW + 86_400_000,
  }),
  aCase("forged", "the signed time with a leading zero", {
    timestamp: `0${NOW}`,
    signature: SIGNATURE,
  }),

  aCase("stale", "a forged delivery of yesterday", {
    signature: `sha256=${"0".repeat(64)}`,
    now: NOW + 86_400_000,
  }),
  aCase("malformed", "a delivery of yesterday without a prefix", {
    signature: SIGNATURE.slice("sha256=".length),
    now: NOW + 86_400_000,
  }),
  aCase("malformed", "a forged delivery whose timestamp has a fraction", {
    timestamp: `${NOW}.5`,
    signature: `sha256=${"0".repeat(64)}`,
  }),
];

function malformed(what: string, timestamp: string) {
  return aCase("malformed", what, { timestamp });
}

function at(verdict: "valid" | "stale", what: string, now: number) {
  return aCase(verdict, what, { now });
}

function digitsFrom(zero: number): string {
  return String(NOW).replace(/[0-9]/g, (digit) => String.fromCharCode(zero + Number(digit)));
}
