import fc from "fast-check";

/** Chooses the usual `weight` times as often as the odd. */
export function often(
  weight: number,
  usual: fc.Arbitrary<string>,
  odd: fc.Arbitrary<string>,
): fc.Arbitrary<string> {
  return fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: odd });
}

/** The end of a line. */
export const crlf = often(
  150,
  fc.constant("\r\n"),
  fc.constantFrom("\n", "\r", "\r\r", "\r\r\n", "\n\r", " \r\n", "\0\r\n"),
);

export function randomCase(text: string): fc.Arbitrary<string> {
  return fc.constantFrom(text, text, text.toLowerCase(), text.toUpperCase());
}

/** One of each, joined. */
export function joined(...parts: fc.Arbitrary<string>[]): fc.Arbitrary<string> {
  return fc.tuple(...parts).map((all) => all.join(""));
}
