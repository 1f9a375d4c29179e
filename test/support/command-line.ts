import { after } from "node:test";
import { OperatorApi } from "../../src/commands/operator-api.ts";
import { operatorApiInProcess, operatorApiOverHttp } from "../../src/start/operator-api.ts";
import { type ProgramContext, runCommand } from "../../src/start/program.ts";
import type { Dependencies } from "../../src/subjects/dependencies.ts";
import { OPERATORS, startOperatorApi } from "./operator-api.ts";

export interface Said {
  status: number;
  stdout: string;
  stderr: string;
}

function createCommandLineInProcess(deps: Dependencies, overrides: Partial<ProgramContext> = {}) {
  let inProcess: OperatorApi | undefined;
  return { run, json };

  async function run(...argv: string[]): Promise<Said> {
    const said = { stdout: "", stderr: "" };
    const nothing = () => Promise.resolve();
    const status = await runCommand(
      {
        withDatabase: (use) => use(deps),
        withOperatorApi: (use) =>
          use((inProcess ??= new OperatorApi(operatorApiInProcess(deps).carry))),
        stdout: (text) => (said.stdout += text),
        stderr: (text) => (said.stderr += text),
        isTerminal: false,
        serve: nothing,
        gateway: nothing,
        migrate: nothing,
        doctor: () => Promise.resolve(true),
        checkEventTypes: () => Promise.resolve({ types: 0 }),
        generateLibrary: () => Promise.resolve(""),
        demo: nothing,
        listen: nothing,
        bridge: () => Promise.resolve(true),
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

type CommandLine = ReturnType<typeof createCommandLineInProcess>;

let way: typeof createCommandLine = createCommandLineInProcess;

/** From now on, command lines use a running service instead of the database. For `commands/over-http.test.ts`. */
export function goThroughService(): void {
  way = createCommandLineOverHttp;
}

/**
 * The command line on these dependencies, with its output recorded. It uses the database or the operator API.
 */
export function createCommandLine(
  deps: Dependencies,
  overrides?: Partial<ProgramContext>,
): CommandLine {
  return way(deps, overrides);
}

/** An error is shown with the id of its request, which is removed here. */
function createCommandLineOverHttp(
  deps: Dependencies,
  overrides?: Partial<ProgramContext>,
): CommandLine {
  const { app } = startOperatorApi({ after }, deps);
  const [{ token } = { token: "" }] = OPERATORS;
  let listening: Promise<string> | undefined;
  const { run, json } = createCommandLineInProcess(deps, {
    ...overrides,
    withDatabase: () => Promise.reject(new Error("these dependencies have no database")),
    withOperatorApi: async (use) => {
      const url = await (listening ??= app.listen({ host: "127.0.0.1", port: 0 }));
      return use(new OperatorApi(operatorApiOverHttp({ url, token })));
    },
  });
  return {
    run: async (...argv) => {
      const said = await run(...argv);
      return { ...said, stderr: said.stderr.replace(/ \(request [0-9A-Za-z_-]+\)$/m, "") };
    },
    json,
  };
}
