import closeWithGrace from "close-with-grace";
import { CommandError, describe, OperatorApi } from "../commands/operator-api.ts";
import { noteUnread, whileRead } from "../commands/output.ts";
import { type Config, loadConfig } from "../config/config.ts";
import { askHereDirectly } from "../config/fleet.ts";
import { checkEventTypes } from "../event-types/check.ts";
import { generateLibrary } from "../event-types/libraries/generate.ts";
import { listenersOf, requireListenable } from "../http/listener.ts";
import { writeActivity } from "../jobs/activity.ts";
import { warnOfUnserved } from "../jobs/process-reports.ts";
import { randomId } from "../lib/ids.ts";
import { becomeOwner } from "../lib/owner.ts";
import { Opened } from "../lib/parts.ts";
import { printableLines } from "../lib/printable.ts";
import { USER_AGENT, VERSION } from "../lib/product.ts";
import { tuneCollector } from "../observe/collector.ts";
import { joinParent, type Membership } from "../workers/index.ts";
import { openDatabase } from "./database.ts";
import { doctor } from "./doctor.ts";
import { openDependencies } from "./engine.ts";
import { openEventTypes } from "./event-types.ts";
import { type Service, start } from "./main.ts";
import { operatorApiInProcess, operatorApiOverHttp } from "./operator-api.ts";
import { type ProgramContext, runCommand } from "./program.ts";
import { countWorkers, startWorkers } from "./workers.ts";

/** Runs one command line, without the program's name. Ends the process if the command fails. */
export async function main(argv: string[]): Promise<void> {
  process.stdout.on("error", noteUnread);
  askHereDirectly(process.env);
  const status = await runCommand(context, argv);
  if (status !== 0) process.exit(status);
}

const context: ProgramContext = {
  stdout: (text) => process.stdout.write(text),
  // An error may quote a message of another party's database.
  stderr: (text) => process.stderr.write(printableLines(text)),
  isTerminal: process.stdout.isTTY && !process.env["NO_COLOR"],
  showStack: /^(debug|trace)$/.test(process.env["LOG_LEVEL"] ?? ""),
  version: VERSION,

  async withOperatorApi(run, options) {
    const { operatorApi } = loadConfig(process.env);
    if (operatorApi !== null) return run(new OperatorApi(operatorApiOverHttp(operatorApi)));
    return context.withDatabase(async (deps) => {
      const { carry, close } = operatorApiInProcess(deps);
      try {
        return await run(new OperatorApi(carry));
      } finally {
        await close();
      }
    }, options);
  },

  async withDatabase(run, { readsEventTypes = false } = {}) {
    const config = await configure();
    if (config.operatorApi !== null) {
      throw new CommandError("this command needs the database: unset PARTNER_API_URL");
    }
    const eventTypes = readsEventTypes ? { eventTypes: await openEventTypes(config) } : {};
    const opened = new Opened();
    try {
      const deps = await openDependencies(config, remark, { opened, ...eventTypes });
      const isChosen = config.databaseUrl !== null || Boolean(process.env["DATA_DIR"]);
      const warning = isChosen ? null : await warnOfUnserved(deps, config.dataDir);
      if (warning !== null) remark(warning);
      const result = await run(deps);
      await deps.cancelling.restCancelled();
      await writeActivity(deps.db, deps.activity, randomId());
      return result;
    } finally {
      await opened.close();
    }
  },

  async serve() {
    tuneCollector();
    const membership = await joinParent(process.env);
    if (membership !== null) return work(membership);
    const config = await configure();
    // Checked before a database is opened or created, so that no later error hides the cause.
    for (const { host, port } of listenersOf(config)) await requireListenable(host, port);
    const workers = await countWorkers(config);
    const service = workers === 1 ? start(config) : startWorkers(config, workers);
    const graceMs = config.shutdownGraceMs + (workers === 1 ? 0 : AFTER_WORKERS_MS);
    await runUntilSignal(graceMs, service, UNFINISHED);
  },

  // Loaded on demand, because a service needs neither its code nor its HTTP client.
  async gateway() {
    const { loadGatewayConfig } = await import("../gateway/config.ts");
    const { startGateway } = await import("../gateway/gateway.ts");
    const config = loadGatewayConfig(process.env);
    await requireListenable(config.operatorHost, config.operatorPort);
    await runUntilSignal(
      config.shutdownGraceMs,
      startGateway(config),
      "unfinished requests got no response",
    );
  },

  async migrate() {
    const say = (message: string) => context.stdout(`${message}\n`);
    const { close } = await openDatabase(await configure(), say, {
      max: 1,
      // A release without RETENTION keeps the setting of the service.
      writesRetention: Boolean(process.env["RETENTION"]),
    });
    await close();
    say("the schema is up to date");
  },

  doctor: async () => {
    const { stdout: write, isTerminal } = context;
    return doctor(await configure(), { write, isTerminal });
  },
  async checkEventTypes(folder, older) {
    const { eventTypes, eventTypesAnnotations: annotations } = loadConfig(process.env);
    const checked = folder ?? eventTypes;
    if (checked === null) throw new Error("specify a folder: --check <folder>, or EVENT_TYPES");
    return { types: await checkEventTypes(checked, older, annotations) };
  },
  async generateLibrary(language) {
    const { eventTypes, eventTypesAnnotations: annotations } = loadConfig(process.env);
    if (eventTypes === null) throw new Error("EVENT_TYPES must name the folder of the event types");
    return generateLibrary(eventTypes, language, annotations);
  },
  // Loaded on demand, because the library for its receivers' certificates would cost the service 8 MB.
  async demo() {
    const { demo } = await import("./demo.ts");
    await whileRead((stop) => demo({ write: context.stdout, remark }, stop));
  },
  // Loaded on demand, like its sources' clients.
  async bridge(options) {
    const { runBridge } = await import("../bridge/cli.ts");
    const { stdout } = context;
    const environment = { env: process.env, version: VERSION, userAgent: USER_AGENT, stdout };
    return runBridge(options, environment);
  },
  async listen(options) {
    const { listen } = await import("../listen/listen.ts");
    const config = loadConfig(process.env);
    const eventTypes = config.eventTypes === null ? null : await openEventTypes(config);
    const { stdin } = process;
    const environment = { ...context, stdin, dataDir: config.dataDir, eventTypes, remark };
    await whileRead((stop) => listen(options, environment, stop));
  },
};

const UNFINISHED = "unfinished attempts will be repeated";

/** Serves as one of several workers. The parent reports why it cannot. */
async function work(membership: Membership): Promise<void> {
  try {
    const config = await configure();
    const service = start(config, undefined, membership);
    await runUntilSignal(config.shutdownGraceMs, service, UNFINISHED, membership);
  } catch (error) {
    await membership.failed(describe(error));
    process.exit(1);
  }
}

/** How much longer than its workers a parent may take to stop. */
const AFTER_WORKERS_MS = 5_000;

/** Returns the configuration. If it needs the data folder, root's process takes the rights of the folder's owner. */
async function configure(): Promise<Config> {
  const config = loadConfig(process.env);
  const { databaseUrl, adminTokens, sealingKeys, dataDir } = config;
  const isAllGiven = databaseUrl !== null && adminTokens !== null && sealingKeys !== null;
  if (!isAllGiven) await becomeOwner(dataDir, remark);
  return config;
}

/** npm repeats the terminal's Ctrl-C to us. A second signal within this time is the same one. */
const ECHO_MS = 500;

/** `afterStart`: what happens to the rest of the work if the process ends before it has stopped. */
async function runUntilSignal(
  shutdownGraceMs: number,
  starting: Promise<Pick<Service, "drain" | "stop">>,
  afterStart: string,
  membership: Membership | null = null,
): Promise<void> {
  let remainder = "the start had not ended, and the next one continues";
  void starting.then(
    () => (remainder = afterStart),
    () => undefined,
  );
  stopGracefully(shutdownGraceMs, membership, {
    remainder: () => remainder,
    drain: async () => (await Promise.race([starting, Promise.resolve()]))?.drain(), // Without effect during the start.
    stop: async (cause) => (await starting).stop(cause),
  });
  await starting;
}

/**
 * At the first signal drains, then stops within the grace period. An uncaught error stops without draining. A later signal ends
 * the process at once. A worker stops when its parent says so, and without draining if the parent has ended.
 */
function stopGracefully(
  shutdownGraceMs: number,
  membership: Membership | null,
  {
    drain,
    stop,
    remainder,
  }: {
    drain: () => Promise<void>;
    stop: (cause?: Error) => Promise<void>;
    remainder: () => string;
  },
): void {
  const signals = ["SIGINT", "SIGTERM"] as const;
  const onTimeout = () => {
    context.stderr(`error: SHUTDOWN_GRACE is over: ${remainder()}\n`);
  };
  const options = { delay: shutdownGraceMs, logger: console, skip: [...signals], onTimeout };
  const closer = closeWithGrace(options, ({ err }) => stop(err));
  let isClosing = false;
  let stoppingSince: number | undefined;
  membership?.onStop(begin);
  membership?.onOrphaned(close);
  process.on("SIGTERM", membership ? begin : heard);
  process.on("SIGINT", membership ? () => undefined : heard); // A terminal's Ctrl-C reaches the parent, too.

  function close(): void {
    if (!isClosing) closer.close();
    isClosing = true;
  }

  function begin(): void {
    if (stoppingSince === undefined) void drain().finally(close);
    stoppingSince ??= performance.now();
  }

  function heard(): void {
    if (stoppingSince !== undefined && performance.now() - stoppingSince > ECHO_MS) {
      context.stderr(`error: ended by a second signal: ${remainder()}\n`);
      process.exit(1);
    }
    begin();
  }
}

/** Says, for example, that a database was created, in case the operator meant another one. */
function remark(message: string): void {
  context.stderr(`${message}\n`);
}
