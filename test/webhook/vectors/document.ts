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
  "The verdicts that a verifier of deliveries must return. Free to use, in any language.",
  "secrets: all secrets that the receiver accepts. headers: names and values, untrimmed. A name may occur twice.",
  "body: base64, to be repeated `repeat` times. now: the receiver's clock in milliseconds since the Unix epoch.",
  "verdict: malformed takes precedence over stale, and stale over forged.",
  "event: true if the body is an event. `verify` of @partner-api/webhook returns malformed for a genuine",
  "signature over any other body. A verifier that checks only signatures returns valid.",
];

export const VECTORS: Vectors = {
  about: ABOUT,
  cases: [...BODIES, ...SIGNATURES, ...TIMESTAMPS, ...SECRETS],
};

/** One case a line, so that a diff shows which cases changed. */
export function encodeVectors({ about, cases }: Vectors): string {
  const lines = (items: readonly unknown[]) =>
    items.map((item) => `    ${ascii(JSON.stringify(item))}`).join(",\n");
  return `{\n  "about": [\n${lines(about)}\n  ],\n  "cases": [\n${lines(cases)}\n  ]\n}\n`;
}

/** Escapes everything beyond ASCII, so that no editor or terminal changes a case. */
function ascii(json: string): string {
  return json.replace(/[\u007f-\uffff]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
