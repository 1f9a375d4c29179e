import type { Parts } from "./parts.ts";
import type { Reading } from "./reading.ts";

/** What we do where Node's client does otherwise. */
const CHOICES = {
  /** We take no status, and Node does. */
  refuse: (ours: Reading, nodes: Reading) => ours.status === null && nodes.status !== null,
  /** We take the status, and Node does not. We do not use the connection again. */
  accept: (ours: Reading, nodes: Reading) =>
    ours.status !== null && nodes.status === null && !ours.isReused,
  /** We take the status that Node takes, and then close the connection sooner. */
  close: (ours: Reading, nodes: Reading) => ours.status === nodes.status && !ours.isReused,
  /** We read to the end, or use the connection again, and Node does not. */
  reuse: (ours: Reading, nodes: Reading) =>
    (ours.end !== null && nodes.end === null) || (ours.isReused && !nodes.isReused),
};

/** A kind of answer that we read otherwise than Node's client, on purpose. */
export interface Difference {
  what: string;
  we: (keyof typeof CHOICES)[];
  why: string;
  example: string;
  isIn: (answer: Parts) => boolean | Promise<boolean>;
}

/** Returns the first of the known differences that explains this one. */
export async function explain(
  known: readonly Difference[],
  answer: Parts,
  ours: Reading,
  nodes: Reading,
): Promise<Difference | undefined> {
  for (const difference of known) {
    const isChoice = difference.we.some((choice) => CHOICES[choice](ours, nodes));
    if (isChoice && (await difference.isIn(answer))) return difference;
  }
  return undefined;
}
