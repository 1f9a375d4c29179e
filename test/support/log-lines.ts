import { setImmediate as turn } from "node:timers/promises";
import { createLogger } from "../../src/observe/log.ts";

/** A process that logs a number of lines of a kilobyte, reports this, and exits at once. */
const [count = "0", said = ""] = process.argv.slice(2);
const log = createLogger("info");
for (let line = 1; line <= Number(count); line++) {
  log.info({ line, filler: "x".repeat(1000), said });
  if (line % 100 === 0) await turn();
}
process.send?.("logged", () => process.exit());
