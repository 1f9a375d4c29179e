import type { TestContext } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Collects garbage all the time until the end of the test, so that nothing lives by chance. */
export function collectGarbage(t: TestContext): void {
  setFlagsFromString("--expose-gc");
  const collecting = setInterval(runInNewContext("gc") as () => void, 5);
  t.after(() => clearInterval(collecting));
}
