import fc from "fast-check";

const BYTES = '\0\t\n\r !",-.0159:;=ACHTac\x7f\x80\xff'.split("");

interface Mutation {
  kind: "replace" | "insert" | "delete" | "repeat" | "truncate";
  /** A position in the text, from 0 to 1. */
  place: number;
  byte: string;
  length: number;
}

/** Without the usual bias to small numbers, so that all positions are equally likely. */
const fraction = fc.noBias(fc.nat(9_999)).map((n) => n / 10_000);

const mutation: fc.Arbitrary<Mutation> = fc.record({
  kind: fc.constantFrom("replace", "replace", "insert", "insert", "delete", "repeat", "truncate"),
  place: fraction,
  byte: fc.constantFrom(...BYTES),
  length: fc.integer({ min: 1, max: 30 }),
});

/** Half of the texts are unchanged. The others have one or two faults. */
export function mutated(texts: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const mutations = fc.oneof(fc.constant([]), fc.array(mutation, { minLength: 1, maxLength: 2 }));
  return fc.tuple(texts, mutations).map(([text, all]) => all.reduce(mutate, text));
}

function mutate(text: string, { kind, place, byte, length }: Mutation): string {
  const at = Math.floor(place * text.length);
  const before = text.slice(0, at);
  switch (kind) {
    case "replace":
      return before + byte + text.slice(at + 1);
    case "insert":
      return before + byte + text.slice(at);
    case "delete":
      return before + text.slice(at + Math.min(length, 4));
    case "repeat":
      return text.slice(0, at + length) + text.slice(at);
    case "truncate":
      return before;
  }
}

/** The text in one piece, in a few, or byte by byte. */
export function cut(texts: fc.Arbitrary<string>): fc.Arbitrary<string[]> {
  const cuts = fc.oneof(
    fc.constant<number[]>([]),
    fc.array(fraction, { minLength: 1, maxLength: 8 }),
    fc.constant(null),
  );
  return fc.tuple(texts, cuts).map(([text, places]) => {
    if (places === null && text.length < BYTE_BY_BYTE_MAX) return text.split("");
    return cutAt(text, places ?? []);
  });
}

/** An answer in more pieces is refused. */
const BYTE_BY_BYTE_MAX = 1_024;

function cutAt(text: string, places: number[]): string[] {
  const ascending = places.map((place) => Math.floor(place * text.length)).sort((a, b) => a - b);
  const bounds = [0, ...ascending, text.length];
  return bounds.map((from, index) => text.slice(from, bounds[index + 1])).filter((p) => p !== "");
}
