import { constants } from "node:os";

const COMPLAINTS_SHOWN = 20;

/** Runs a long test as a program: prints its complaints, and fails if there are any. A signal aborts it. */
export async function asProgram(run: (signal: AbortSignal) => Promise<string[]>): Promise<never> {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => {
      process.exitCode = 128 + constants.signals[name];
      stop.abort(new Error(`ended by ${name}`));
    });
  }
  try {
    const complaints = await run(stop.signal);
    for (const complaint of complaints.slice(0, COMPLAINTS_SHOWN)) console.log(complaint);
    process.exitCode = complaints.length === 0 ? 0 : 1;
  } catch (error) {
    console.error(error);
    process.exitCode ??= 1;
  }
  process.exit(); // An aborted run may still wait for something.
}
