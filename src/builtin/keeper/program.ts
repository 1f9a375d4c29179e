import { spawn } from "node:child_process";
import { endOf } from "../end-of.ts";

/** PostgreSQL's programs run in a folder that everybody may enter, without our environment. */
export const SURROUNDINGS = { cwd: "/", env: { LC_ALL: "C" } };

const OUTPUT_MAX = 64 * 1024;

/** Runs a program to its end. Throws with the line of its output that names the fault. */
export async function runProgram(program: string, args: string[], input = ""): Promise<void> {
  const child = spawn(program, args, { ...SURROUNDINGS, stdio: ["pipe", "ignore", "pipe"] });
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output = (output + text).slice(-OUTPUT_MAX);
  });
  child.stdin.on("error", () => undefined); // The program ended without reading. Its exit tells the cause.
  child.stdin.end(input);

  const status = await new Promise<string>((resolve, reject) => {
    child.once("error", (error) => {
      reject(doesNotRun(error));
    });
    child.once("close", (code, killer) => {
      resolve(code === 0 ? "" : endOf(code, killer));
    });
  });
  if (status !== "") throw new Error(faultIn(output) ?? `${program} ended with ${status}`);
}

/** The error for a program that could not be spawned. */
export function doesNotRun(error: unknown): Error {
  const why = error instanceof Error ? error.message : String(error);
  return new Error(`PostgreSQL cannot run here (${why}): set DATABASE_URL`, { cause: error });
}

/** The last fault in a log of PostgreSQL, or else its last line. */
export function faultIn(log: string): string | null {
  const faults = [...log.matchAll(/(?:FATAL|PANIC|ERROR|error): +(.+)/g)];
  return faults.at(-1)?.[1] ?? log.trim().split("\n").at(-1) ?? null;
}
