import closeWithGrace from "close-with-grace";
import type { CommandContext } from "./commands/context.ts";
import { CommandError } from "./commands/errors.ts";
import { OperatorApi } from "./commands/operator-api.ts";
import { printableLines } from "./commands/printable.ts";
import { runCommand } from "./commands/program.ts";
import { type Config, loadConfig } from "./config.ts";
import { doctor } from "./doctor.ts";
import { checkEventTypes } from "./event-types/check.ts";
import { randomId } from "./domain/ids.ts";
import { start } from "./main.ts";
import { writeActivity } from "./wiring/activity-writer.ts";
import { becomeOwner } from "./wiring/become-owner.ts";
import { tuneCollector } from "./wiring/collector.ts";
import { openDatabase } from "./wiring/database.ts";
import { openDependencies } from "./wiring/dependencies.ts";
import { openEventTypes } from "./wiring/event-types.ts";
import { listenersOf, requireListenable } from "./wiring/listener.ts";
import { operatorApiInProcess } from "./wiring/operator-api-in-process.ts";
import { operatorApiOverHttp } from "./wiring/operator-api-over-http.ts";
import { VERSION } from "./wiring/product.ts";

/** Runs one command line, given without the program's name, and ends the process when it fails. */
export async function main(argv: string[]): Promise<void> {
  process.stdout.on("error", noteUnread);
  const status = await runCommand(context, argv);
  if (status !== 0) process.exit(status);
}

const context: CommandContext = {
  stdout: (text) => process.stdout.write(text),
  // A fault may quote what somebody else's database has said.
  stderr: (text) => process.stderr.write(printableLines(text)),
  isTerminal: process.stdout.isTTY && !process.env["NO_COLOR"],
  showStack: /^(debug|trace)$/.test(process.env["LOG_LEVEL"] ?? ""),
  version: VERSION,

  async withOperatorApi(run, options) {
    const { operatorApi } = loadConfig(process.env);
    if (operatorApi !== null) return run(new OperatorApi(operatorApiOverHttp(operatorApi)));
    return context.withDependencies(async (deps) => {
      const { carry, close } = operatorApiInProcess(deps);
      try {
        return await run(new OperatorApi(carry));
      } finally {
        await close();
      }
    }, options);
  },

  async withDependencies(run, { readsEventTypes = false } = {}) {
    const config = await configure();
    if (config.operatorApi !== null) {
      throw new CommandError("this command works on the database: unset PARTNER_API_URL");
    }
    const eventTypes = readsEventTypes ? { eventTypes: await openEventTypes(config) } : {};
    const { db, close } = await openDatabase(config, remark, { max: 2 });
    try {
      const { deps, destinations } = await openDependencies(config, db, eventTypes);
      try {
        const result = await run(deps);
        await deps.cancelling.restCancelled();
        await writeActivity(db, deps.activity, randomId());
        return result;
      } finally {
        destinations.close();
      }
    } finally {
      await close();
    }
  },

  async serve() {
    tuneCollector();
    const config = await configure();
    // Before a database is opened, or made: what fails on the way down would hide the cause.
    for (const { host, port } of listenersOf(config)) await requireListenable(host, port);
    const starting = start(config);
    stopGracefully(config, {
      drain: async () => (await Promise.race([starting, Promise.resolve()]))?.drain(), // Nothing, while it starts.
      stop: async (cause) => (await starting).stop(cause),
    });
    await starting;
  },

  async migrate() {
    const say = (message: string) => context.stdout(`${message}\n`);
    const { close } = await openDatabase(await configure(), say, {
      max: 1,
      // Whoever says nothing of it at a release leaves the service's own alone.
      writesRetention: Boolean(process.env["RETENTION"]),
    });
    await close();
    say("the schema is up to date");
  },

  doctor: async () => doctor(await configure(), context.stdout),
  async checkEventTypes(folder, older) {
    const checked = folder ?? loadConfig(process.env).eventTypes;
    if (checked === null) throw new Error("name a folder: --check <folder>, or EVENT_TYPES");
    return { types: await checkEventTypes(checked, older) };
  },
  // Loaded when asked for: what makes their receivers' certificates would cost the service 8 MB.
  async demo() {
    const { demo } = await import("./demo.ts");
    await whileRead((stop) => demo(context.stdout, stop));
  },
  async listen(options) {
    const { listen } = await import("./listen.ts");
    const config = loadConfig(process.env);
    const eventTypes = config.eventTypes === null ? null : await openEventTypes(config);
    await becomeOwner(options.folder ?? config.dataDir, remark);
    const environment = { ...context, dataDir: config.dataDir, eventTypes };
    await whileRead((stop) => listen(options, environment, stop));
  },
};

/** The configuration, for a process that may work on the folders that it names. */
async function configure(): Promise<Config> {
  const config = loadConfig(process.env);
  const { databaseUrl, adminTokens, sealingKeys, dataDir } = config;
  const isAllGiven = databaseUrl !== null && adminTokens !== null && sealingKeys !== null;
  if (!isAllGiven) await becomeOwner(dataDir, remark);
  return config;
}

/** Aborts when nobody reads on what is printed: after `| head -1`, say. */
const unread = new AbortController();

function noteUnread(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") {
    context.stderr(`error: standard output cannot be written (${error.code ?? error.message})\n`);
    process.exit(1);
  }
  unread.abort(error);
}

/** Runs what prints until it is stopped: by a signal, or, without a word, when nobody reads it any more. */
async function whileRead(show: (stop: AbortSignal) => Promise<void>): Promise<void> {
  try {
    await show(AbortSignal.any([stopWish(), unread.signal]));
  } catch (error) {
    if (!unread.signal.aborted) throw error;
  }
}

/** npm passes on the Ctrl-C that the terminal has sent us already: what follows so soon is the same one. */
const ECHO_MS = 500;

/**
 * Drains at the first signal, then stops in good order, within the grace. An error that nobody caught stops without
 * draining. A later signal ends the process as it is.
 */
function stopGracefully(
  { shutdownGraceMs }: Config,
  { drain, stop }: { drain: () => Promise<void>; stop: (cause?: Error) => Promise<void> },
): void {
  const signals = ["SIGINT", "SIGTERM"] as const;
  const onTimeout = () => {
    context.stderr("error: the grace is over: what is under way is attempted once more\n");
  };
  const options = { delay: shutdownGraceMs, logger: console, skip: [...signals], onTimeout };
  const { close } = closeWithGrace(options, ({ err }) => stop(err));
  let stoppingSince: number | undefined;
  for (const signal of signals) process.on(signal, heard);

  function heard(): void {
    if (stoppingSince === undefined) void drain().finally(close);
    else if (performance.now() - stoppingSince > ECHO_MS) process.exit(1);
    stoppingSince ??= performance.now();
  }
}

/** Aborts at the first signal to end, and leaves it to whoever listens to clean up. */
function stopWish(): AbortSignal {
  const wish = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => wish.abort(new Error(`ended by ${signal}`)));
  }
  return wish.signal;
}

/** That a database was made, say: whoever meant another one should see it. */
function remark(message: string): void {
  context.stderr(`${message}\n`);
}
