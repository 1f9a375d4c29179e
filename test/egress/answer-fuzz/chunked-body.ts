import fc from "fast-check";
import { fieldLine } from "./field-lines.ts";
import { crlf, often } from "./often.ts";

const EXTENSIONS = [
  ...[";a", ";a=b", ";a=b;c", ";chunk-signature=0f", ';a="b c"', ';a="b\\"c"', ";a=", ";=b", ";"],
  ...["; a", ";a ", " ;a", ";a=b=c", ";;a", ';a="', ';a=b"c"', ";a\0", ";a\xff", ";\r", ";a\rb"],
];
const extension = often(8, fc.constant(""), fc.constantFrom(...EXTENSIONS));

const chunk = fc
  .record({
    data: fc.string({ minLength: 1, maxLength: 20 }),
    size: fc.constantFrom<(length: number) => string>(
      ...[plain, plain, plain, plain, plain, plain],
      (length) => plain(length).toUpperCase(),
      (length) => plain(length).padStart(8, "0"),
      (length) => plain(length).padStart(20, "0"),
      (length) => `${plain(length)} `,
      (length) => ` ${plain(length)}`,
      (length) => `0x${plain(length)}`,
      (length) => `+${plain(length)}`,
      (length) => plain(length + 1),
      (length) => plain(length - 1),
      () => "ffffffffffffffff",
      () => "fffffffffffffffff",
      () => "",
    ),
    extension,
    ends: fc.tuple(crlf, crlf),
  })
  .map(({ data, size, extension, ends: [afterSize, afterData] }) =>
    [size(data.length), extension, afterSize, data, afterData].join(""),
  );

const lastChunk = fc
  .tuple(often(12, fc.constantFrom("0", "000"), fc.constantFrom("0 ", "0x0")), extension, crlf)
  .map((parts) => parts.join(""));

const trailers = often(
  4,
  fc.constant(""),
  fc.array(fieldLine, { minLength: 1, maxLength: 2 }).map((lines) => lines.join("")),
);

export const chunkedBody: fc.Arbitrary<string> = fc
  .tuple(fc.array(chunk, { maxLength: 3 }), lastChunk, trailers, crlf)
  .map(([chunks, ...end]) => [...chunks, ...end].join(""));

function plain(length: number): string {
  return length.toString(16);
}
