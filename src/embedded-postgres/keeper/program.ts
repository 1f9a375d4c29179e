import { spawn } from "node:child_process";

/** How everything of PostgreSQL is spawned: from a folder that everybody may enter, and with nothing of our environment. */
export const SURROUNDINGS = { cwd: "/", env: { LC_ALL: "C" } };

const OUTPUT_MAX = 64 * 1024;

/** Runs a program to its end. Fails with the one line of its output that says why. */
export async function runProgram(program: string, args: string[], input = ""): Promise<void> {
  const child = spawn(program, args, { ...SURROUNDINGS, stdio: ["pipe", "ignore", "pipe"] });
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output = (output + text).slice(-OUTPUT_MAX);
  });
  child.stdin.on("error", () => undefined); // It ended without reading: its exit says why.
  child.stdin.end(input);

  const status = await new Promise<string>((resolve, reject) => {
    child.once("error", (error) => {
      reject(doesNotRun(error));
    });
    child.once("close", (code, killer) => {
      resolve(code === 0 ? "" : (killer ?? `exit code ${code ?? ""}`));
    });
  });
  if (status !== "") throw new Error(faultIn(output) ?? `${program} ended with ${status}`);
}

/** What to say when a program could not even be spawned. */
export function doesNotRun(error: unknown): Error {
  const why = error instanceof Error ? error.message : String(error);
  return new Error(`PostgreSQL does not run here (${why}): set DATABASE_URL`, { cause: error });
}

/** What went wrong, in one line of a log of PostgreSQL's: its last fault, or else its last line. */
export function faultIn(log: string): string | null {
  const faults = [...log.matchAll(/(?:FATAL|PANIC|ERROR|error): +(.+)/g)];
  return faults.at(-1)?.[1] ?? log.trim().split("\n").at(-1) ?? null;
}
