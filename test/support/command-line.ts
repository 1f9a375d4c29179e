import type { Dependencies } from "../../src/actions/dependencies.ts";
import type { CommandContext } from "../../src/commands/context.ts";
import { runCommand } from "../../src/commands/program.ts";

export interface Said {
  status: number;
  stdout: string;
  stderr: string;
}

/** The command line on the given dependencies, with what it says caught. */
export function createCommandLine(deps: Dependencies, overrides: Partial<CommandContext> = {}) {
  return { run, json };

  async function run(...argv: string[]): Promise<Said> {
    const said = { stdout: "", stderr: "" };
    const nothing = () => Promise.resolve();
    const status = await runCommand(
      {
        withDependencies: (use) => use(deps),
        stdout: (text) => (said.stdout += text),
        stderr: (text) => (said.stderr += text),
        isTerminal: false,
        serve: nothing,
        migrate: nothing,
        doctor: () => Promise.resolve(true),
        checkEventTypes: () => Promise.resolve({ types: 0 }),
        demo: nothing,
        listen: nothing,
        ...overrides,
      },
      argv,
    );
    return { status, ...said };
  }

  /** The one document that a command with `--json` prints. */
  async function json<Document>(...argv: string[]): Promise<Document> {
    const { status, stdout, stderr } = await run(...argv, "--json");
    if (status !== 0) throw new Error(`status ${status}: ${stderr}`);
    return JSON.parse(stdout) as Document;
  }
}
