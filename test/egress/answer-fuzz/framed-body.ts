import fc from "fast-check";
import { chunkedBody } from "./chunked-body.ts";
import { often, randomCase } from "./often.ts";

type Framed = [fieldLine: string, body: string];

const text = fc.string({ maxLength: 20 });

const byLength = text.map((body): Framed => [`Content-Length: ${body.length}\r\n`, body]);

const oddCodings = fc.constantFrom(
  ...["chunked\t", "chunked ", "\tchunked", "gzip, chunked", "gzip,chunked", "chunked,gzip"],
  ...["chunked, chunked", "chunked,chunked", ",chunked", "chunked,", "chunkedx", "xchunked"],
  ...["chunked;q=1", '"chunked"', "identity", "", "chunked\r\n ", "\r\n chunked"],
);

const byChunks = fc.tuple(
  often(
    3,
    randomCase("Transfer-Encoding: chunked\r\n"),
    oddCodings.map((codings) => `Transfer-Encoding: ${codings}\r\n`),
  ),
  chunkedBody,
);

const byNothing = fc.tuple(fc.constant(""), often(2, fc.constant(""), text));

/** Around the limit of 64 KiB. */
const LARGE = [65_535, 65_536, 65_537].flatMap((size): Framed[] => {
  const half = Math.floor(size / 2);
  const chunk = `${half.toString(16)}\r\n${"a".repeat(half)}\r\n`;
  return [
    [`Content-Length: ${size}\r\n`, "a".repeat(size)],
    ["Transfer-Encoding: chunked\r\n", `${chunk}${chunk}0\r\n\r\n`],
  ];
});

/** A field with the length of a body, and the body. */
export const framedBody: fc.Arbitrary<Framed> = fc.oneof(
  { weight: 60, arbitrary: byLength },
  { weight: 60, arbitrary: byChunks },
  { weight: 30, arbitrary: byNothing },
  { weight: 1, arbitrary: fc.constantFrom(...LARGE) },
);
