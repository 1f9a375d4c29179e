import type { Rig } from "./rig.ts";
import type { Row } from "./row.ts";

/** One measurement of the bench. */
export interface Scenario {
  /** Its name on the command line. */
  name: string;
  run: (rig: Rig) => Promise<Row[]>;
  /** Runs only with `--long` or by name. */
  isLong?: boolean;
}
