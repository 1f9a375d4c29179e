import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { Arrivals } from "./arrivals.ts";
import { ENTRY } from "./program.ts";
import { ROOT } from "./root.ts";
import { aTemporaryFolder } from "./temporary-folder.ts";

const SAMPLES = join(ROOT, "site/samples");

export type Shell = Awaited<ReturnType<typeof aShell>>;

/**
 * A partner's shell in an empty folder, with curl and `partner-api`. It runs the samples of the
 * documentation.
 */
export async function aShell(t: TestContext, settings: Record<string, string>) {
  const folder = await aTemporaryFolder(t);
  const bin = await aTemporaryFolder(t);
  await writeFile(join(bin, "partner-api"), PROGRAM);
  await chmod(join(bin, "partner-api"), 0o755);

  const env: Record<string, string> = {
    PATH: [bin, process.env["PATH"] ?? ""].join(delimiter),
    HOME: folder,
    ...settings,
  };
  const read = (sample: string) => readFile(join(SAMPLES, sample), "utf8");
  const open = (text: string, more: Record<string, string> = {}) =>
    spawn("bash", ["-euo", "pipefail", "-c", text], {
      cwd: folder,
      env: { ...env, ...more },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true, // A process group, so that everything that the shell has started ends with it.
    });

  return {
    folder,
    /** The environment of the samples. */
    env,
    /** Runs a sample to its end and returns its output. */
    async run(sample: string): Promise<string> {
      return this.runText(await read(sample));
    },
    /** The same for a text. */
    async runText(text: string): Promise<string> {
      const child = open(text);
      const output: Buffer[] = [];
      const complaints: Buffer[] = [];
      child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
      child.stderr.on("data", (chunk: Buffer) => complaints.push(chunk));
      const [status] = (await once(child, "close")) as [number | null];
      assert.equal(status, 0, `${text}: ${Buffer.concat(complaints).toString()}`);
      return Buffer.concat(output).toString();
    },
    /** Runs a sample that imports our package from the checkout. */
    async runModule(sample: string): Promise<string> {
      const node = promisify(execFile)(process.execPath, [join(SAMPLES, sample)], { env });
      return (await node).stdout;
    },
    async json(sample: string): Promise<Record<string, unknown>> {
      return JSON.parse(await this.run(sample)) as Record<string, unknown>;
    },
    /** Starts a sample that runs until it is stopped. */
    async start(sample: string, more?: Record<string, string>, edit = unchanged) {
      return this.startText(edit(await read(sample)), more);
    },
    startText(text: string, more: Record<string, string> = {}) {
      const child = open(text, more);
      child.stderr.resume();
      const exited = once(child, "exit");
      const lines = new Arrivals<string>();
      createInterface(child.stdout).on("line", (line) => lines.add(line));
      const stop = async () => {
        if (child.exitCode === null && child.signalCode === null) kill(child.pid);
        await exited;
      };
      t.after(stop);
      const heard = (pattern: RegExp) =>
        lines.until((all) => all.map((line) => pattern.exec(line)).find((match) => match !== null));
      return { lines, heard, stop };
    },
  };
}

/** PARTNER_API_ARGS adds arguments of the test to those of the documentation, such as a free port. */
const PROGRAM = `#!/usr/bin/env bash
exec "${process.execPath}" --input-type=module \\
  -e 'import("${ENTRY}").then(({ main }) => main(process.argv.slice(1)))' -- "$@" \${PARTNER_API_ARGS-}
`;

const unchanged = (text: string) => text;

function kill(pid: number | undefined): void {
  assert.ok(pid);
  process.kill(-pid, "SIGTERM");
}
