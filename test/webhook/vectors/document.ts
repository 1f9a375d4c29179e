import { BODIES } from "./bodies.ts";
import type { Case } from "./case.ts";
import { SECRETS } from "./secrets.ts";
import { SIGNATURES } from "./signatures.ts";
import { TIMESTAMPS } from "./timestamps.ts";

export interface Vectors {
  about: string[];
  cases: Case[];
}

const ABOUT = [
  "What a verifier of deliveries has to answer. It is free to use, in any language.",
  "secrets: all that the receiver accepts. headers: names and values, untrimmed; a name may come twice.",
  "body: base64, to be repeated `repeat` times. now: the receiver's clock, milliseconds since the Unix epoch.",
  "verdict: malformed goes before stale, and stale before forged.",
  "event: whether the body is an event, too. `verify` of partner-api/webhook reads it, and answers malformed",
  "for a genuine signature over anything else; a verifier that looks at signatures alone answers valid.",
];

export const VECTORS: Vectors = {
  about: ABOUT,
  cases: [...BODIES, ...SIGNATURES, ...TIMESTAMPS, ...SECRETS],
};

/** One case to a line, so that a change shows as the case that it changes. */
export function encodeVectors({ about, cases }: Vectors): string {
  const lines = (items: readonly unknown[]) =>
    items.map((item) => `    ${ascii(JSON.stringify(item))}`).join(",\n");
  return `{\n  "about": [\n${lines(about)}\n  ],\n  "cases": [\n${lines(cases)}\n  ]\n}\n`;
}

/** Beyond ASCII in escapes: nobody's editor or terminal is to change what the case is about. */
function ascii(json: string): string {
  return json.replace(/[\u007f-\uffff]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
