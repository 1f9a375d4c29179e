import fc from "fast-check";
import { fieldLine } from "./field-lines.ts";
import { framedBody } from "./framed-body.ts";
import { crlf, joined, often } from "./often.ts";

const oddVersion = fc.constantFrom(
  ...["HTTP/0.9 ", "HTTP/2.0 ", "HTTP/1.2 ", "HTTP/3.0 ", "HTTP/11 ", "HTTP/1.10 ", "HTTP/1.1"],
  ...["http/1.1 ", "HTTP/1.1\t", "HTTP/1.1  ", "ICE/1.0 ", "RTSP/1.0 ", "RTSP/1.1 ", "POST / "],
  ...["\r\nHTTP/1.1 ", "\nHTTP/1.1 ", " HTTP/1.1 ", "HTTPS/1.1 ", ""],
);

const statusLine = joined(
  often(40, fc.constantFrom("HTTP/1.1 ", "HTTP/1.1 ", "HTTP/1.0 "), oddVersion),
  often(
    30,
    fc.constantFrom("200", "200", "201", "202", "204", "400", "404", "429", "500", "503"),
    fc.constantFrom(
      "304",
      "304",
      "101",
      "205",
      "999",
      "600",
      "099",
      "000",
      "20",
      "2000",
      "2O0",
      "+20",
      "",
    ),
  ),
  often(
    40,
    fc.constantFrom(" OK", " No Content", "", " ", "  ", " \t", " \xe9t\xe9"),
    fc.constantFrom("OK", " O\0K", " O\x1bK", " O\x7fK", " O\rK", " \x0b", "\t"),
  ),
  crlf,
);

const fieldLines = fc.array(fieldLine, { maxLength: 2 }).map((lines) => lines.join(""));

const interimHead = joined(
  often(9, fc.constant("HTTP/1.1 "), fc.constant("HTTP/1.0 ")),
  fc.constantFrom("100 Continue", "102 Processing", "103 Early Hints", "199 x"),
  crlf,
  often(2, fc.constant(""), fieldLines),
  often(20, fc.constant("\r\n"), fc.constantFrom("\r\n\r\n", "\n")),
);

const interimHeads = fc.array(interimHead, { maxLength: 3 }).map((heads) => heads.join(""));

const tail = fc.constantFrom("\r\n", "\n", "H", "HTTP/1.1 200 OK\r\n", "x");

/** Mostly valid answers with rare parts, and some with odd ones. A character stands for a byte. */
export const anAnswer: fc.Arbitrary<string> = joined(
  often(6, fc.constant(""), interimHeads),
  statusLine,
  fieldLines,
  framedBody.chain(([framing, body]) =>
    joined(fc.constant(framing), fieldLines, crlf, fc.constant(body)),
  ),
  often(20, fc.constant(""), tail),
);
