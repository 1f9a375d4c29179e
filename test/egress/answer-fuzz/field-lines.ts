import fc from "fast-check";
import { crlf, joined, often, randomCase } from "./often.ts";

const KIB = 1024;

const NEAR_OPTIONS = ["keep-alivex", "xkeep-alive", "keep-alive x", "closed", "x-close", "clos"];
const ODD_OPTIONS = [
  ...["CLOSE", "upgrade", "te", "", "close;x", "close x", '"close"', "close\t", "\tclose"],
  ...["keep-alive\t", "keep-alive ", "\xa0close", "close\r\n x", "\r\n close"],
];

const usualOption = fc.constantFrom("keep-alive", "keep-alive", "Keep-Alive", "close");
const option = often(
  2,
  usualOption,
  often(2, fc.constantFrom(...NEAR_OPTIONS), fc.constantFrom(...ODD_OPTIONS)),
);
const optionList = fc
  .array(option, { minLength: 2, maxLength: 3 })
  .chain((options) => fc.constantFrom(...[",", ", ", " ,"].map((mark) => options.join(mark))));

const connectionValue = often(3, option, optionList);

const LENGTHS = [
  ...["0", "5", "00", "0000000000000000005", "9007199254740993", "18446744073709551615"],
  ...["18446744073709551616", "99999999999999999999999", "", " ", "+5", "-5", "0x5", "5.0", "5e0"],
  ...["5,5", "5, 5", "5,6", "5 5", "5\t", "\t5", "5 ", "five", "5;x", "\r\n 5", "5\r\n ", "5\0"],
];

const KEEP_ALIVES = [
  ...["timeout=5", "timeout=5, max=100", "max=100, timeout=5", "timeout=0", "timeout=1"],
  ...["timeout=2", "timeout=3", "Timeout=1", "max=100,timeout=1", "xtimeout=1", "timeout=-1"],
  ...["timeout=1.5", "timeout=", 'timeout="1"', "timeout =1", "timeout=99999999999", "max=0", ""],
];

const ODD_LINES = [
  ...["x : y", "x\t: y", ": y", "x", "", " x: y", "\tx: y", "x y: z", "x\0: y", "x: \0", "x: \x01"],
  ...["x: \x7f", "x: a\rb", "x: a\nb", "x:", "x: \xff", "\xff: x", "(x): y", "x;y: z"],
  ...["x: y\r\n z", "x: y\r\n\tz", "x:\r\n z", "x: y\r\n ", "Upgrade: x", "HTTP/1.1 200 OK"],
  `x: ${"y".repeat(16 * KIB - 99)}`,
  `x: ${"y".repeat(16 * KIB)}`,
];

function lineOf(name: string, values: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const colon = often(60, fc.constantFrom(": ", ":", ":\t"), fc.constantFrom(" :", "\t: ", ""));
  return joined(randomCase(name), colon, values, crlf);
}

/** A line of a head, with its end. */
export const fieldLine: fc.Arbitrary<string> = fc.oneof(
  { weight: 20, arbitrary: lineOf("Connection", connectionValue) },
  { weight: 6, arbitrary: lineOf("Proxy-Connection", connectionValue) },
  { weight: 6, arbitrary: lineOf("Keep-Alive", fc.constantFrom(...KEEP_ALIVES)) },
  { weight: 20, arbitrary: lineOf("X-Other", fc.string({ maxLength: 8 })) },
  { weight: 1, arbitrary: lineOf("Content-Length", fc.constantFrom(...LENGTHS)) },
  { weight: 1, arbitrary: lineOf("Transfer-Encoding", fc.constantFrom("chunked", "gzip", "")) },
  { weight: 2, arbitrary: joined(fc.constantFrom(...ODD_LINES), crlf) },
);
