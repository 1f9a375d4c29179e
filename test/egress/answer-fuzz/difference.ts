import type { Parts } from "./parts.ts";
import type { Reading } from "./reading.ts";

/** How our reading differs from that of Node's client. */
const CHOICES = {
  /** We refuse the status that Node takes. */
  refuse: (ours: Reading, nodes: Reading) => ours.status === null && nodes.status !== null,
  /** We take the status that Node refuses. We do not reuse the connection. */
  accept: (ours: Reading, nodes: Reading) =>
    ours.status !== null && nodes.status === null && !ours.isReused,
  /** Both take the same status. We close the connection sooner. */
  close: (ours: Reading, nodes: Reading) => ours.status === nodes.status && !ours.isReused,
  /** We read to the end or reuse the connection, and Node does not. */
  reuse: (ours: Reading, nodes: Reading) =>
    (ours.end !== null && nodes.end === null) || (ours.isReused && !nodes.isReused),
};

/** A kind of answer that we intentionally read differently than Node's client. */
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
