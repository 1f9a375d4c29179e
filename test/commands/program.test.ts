import assert from "node:assert/strict";
import { test } from "node:test";
import type { Command } from "commander";
import { CompleteCommand } from "../../src/commands/complete-command.ts";
import { buildProgram, type ProgramContext } from "../../src/start/program.ts";
import type { Dependencies } from "../../src/subjects/dependencies.ts";
import { createCommandLine } from "../support/command-line.ts";

/** These tests never use the database. */
const nowhere = {} as Dependencies;

function failingWith(error: unknown): Partial<ProgramContext> {
  return {
    withOperatorApi: () => {
      throw error;
    },
  };
}

test("an invalid command line is explained, with status 2", async () => {
  const { run } = createCommandLine(nowhere);
  for (const argv of [
    ["orgg"],
    ["org", "create"],
    ["org", "list", "--nonsense"],
    ["key", "create"],
  ]) {
    const { status, stdout, stderr } = await run(...argv);
    assert.equal(status, 2, argv.join(" "));
    assert.equal(stdout, "");
    assert.match(stderr, /^error: /);
  }
  assert.equal((await run()).status, 2);
});

test("an error names every missing option and argument at once", async () => {
  const { run } = createCommandLine(nowhere);
  const cases: [argv: string[], error: RegExp][] = [
    [["event", "publish"], /options '--organization <.*>', '--type <.*>', '--data <.*>' not/],
    [["event", "publish", "--type", "a.b"], /options '--organization <.*>', '--data <.*>' not/],
    [["key", "create"], /required option '--organization <organization>' not specified/],
    [["org", "set-limit"], /missing required arguments 'organization', 'n'/],
    [["org", "set-limit", "acme"], /missing required argument 'n'/],
  ];
  for (const [argv, error] of cases) assert.match((await run(...argv)).stderr, error);
});

test("every command names all its missing options and arguments", () => {
  const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];
  const commands = all(buildProgram({} as ProgramContext)).filter(
    ({ registeredArguments, options }) =>
      [
        ...registeredArguments.map(({ required }) => required),
        ...options.map(({ mandatory }) => mandatory),
      ].some(Boolean),
  );
  assert.ok(commands.length > 10);
  const others = commands.filter((command) => !(command instanceof CompleteCommand));
  assert.deepEqual(
    others.map((command) => command.name()),
    [],
  );
});

test("help goes to standard output with status 0, at most 100 columns wide", async () => {
  const { run } = createCommandLine(nowhere);
  for (const argv of [[], ["org"], ["key", "create"], ["delivery", "list"], ["reseal"]]) {
    const { status, stdout, stderr } = await run(...argv, "--help");
    assert.equal(status, 0);
    assert.equal(stderr, "");
    assert.match(stdout, /^Usage: partner-api/);
    for (const line of stdout.split("\n")) assert.ok(line.length <= 100, line);
  }
});

test("--version prints the program's version", async () => {
  const { run } = createCommandLine(nowhere, { version: "1.2.3" });
  assert.deepEqual(await run("--version"), { status: 0, stdout: "1.2.3\n", stderr: "" });
});

test("an unexpected error is one line, with a stack only on request", async () => {
  const broken = failingWith(new Error("the disk is on fire"));
  assert.deepEqual(await createCommandLine(nowhere, broken).run("org", "list"), {
    status: 1,
    stdout: "",
    stderr: "error: the disk is on fire\n",
  });

  const debugging = createCommandLine(nowhere, { ...broken, showStack: true });
  assert.match((await debugging.run("org", "list")).stderr, /\n {4}at /);
});

test("an unreachable database is reported in the driver's words", async () => {
  const refused = "127.0.0.1:5432: connect ECONNREFUSED 127.0.0.1:5432";
  const away = Object.assign(new Error(refused), { code: "ECONNREFUSED" });
  const { run } = createCommandLine(nowhere, failingWith(away));
  assert.equal(
    (await run("org", "list")).stderr,
    `error: the database is unavailable: ${refused}\n`,
  );
});

test("serve, migrate, doctor and demo call their functions", async () => {
  const called: string[] = [];
  const note = (name: string) => () => {
    called.push(name);
    return Promise.resolve();
  };
  const { run } = createCommandLine(nowhere, {
    serve: note("serve"),
    migrate: note("migrate"),
    doctor: () => note("doctor")().then(() => true),
    demo: note("demo"),
  });
  const names = ["serve", "migrate", "doctor", "demo"];
  for (const name of names) assert.equal((await run(name)).status, 0);
  assert.deepEqual(called, names);
});

test("doctor ends with status 1 if a check fails", async () => {
  const { run } = createCommandLine(nowhere, { doctor: () => Promise.resolve(false) });
  assert.deepEqual(await run("doctor"), {
    status: 1,
    stdout: "",
    stderr: "error: some checks failed\n",
  });
});
