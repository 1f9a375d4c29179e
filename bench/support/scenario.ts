import type { Rig } from "./rig.ts";
import type { Row } from "./row.ts";

/** A question to the service, and how to find the answer. */
export interface Scenario {
  /** What it is asked for by on the command line. */
  name: string;
  run: (rig: Rig) => Promise<Row[]>;
  /** Only on `--long`, or by name. */
  isLong?: boolean;
}
