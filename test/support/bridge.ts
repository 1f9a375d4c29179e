import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { text as textOf } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { type RunningBridge, startBridge } from "../../src/bridge/bridge.ts";
import { checkBridge } from "../../src/bridge/check.ts";
import { readConfiguration, type SourceConfiguration } from "../../src/bridge/configuration.ts";
import { createPublisher } from "../../src/bridge/publisher.ts";
import type { Delays } from "../../src/bridge/pump.ts";
import type { Source } from "../../src/bridge/source.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { connect, type Database } from "../../src/postgres/database.ts";
import { aFolder, typeFile } from "./event-types.ts";
import { openPort } from "./free-port.ts";
import { ADMIN_TOKEN } from "./program.ts";
import { aRig, call } from "./rig.ts";
import { startService } from "./service.ts";

export const PUBLISH_TOKEN = "token-of-the-bridge-for-publishing-1234";
export const ADMIN_TOKENS = `alice:${ADMIN_TOKEN},bridge/publish:${PUBLISH_TOKEN}`;

/** A type whose `data` has an `n` that is an integer from 0 on. */
export const COUNTED = {
  "order.created.json": typeFile(
    { type: "object", properties: { n: { type: "integer", minimum: 0 } }, required: ["n"] },
    { n: 1 },
  ),
};

/** The variables of a service that publishes. */
export async function aPublishingRig(t: TestContext): Promise<Record<string, string>> {
  const EVENT_TYPES = await aFolder(t, COUNTED);
  return aRig(t, { EVENT_TYPES, ADMIN_TOKEN: ADMIN_TOKENS });
}

/** A running service, with an organization `acme` and a way to see what was published. */
export async function aPublishingService(t: TestContext, rig?: Record<string, string>) {
  const env = rig ?? (await aPublishingRig(t));
  const service = await startService(t, env);
  await makeOrganization(service.operatorUrl, "acme");
  return { ...service, env, published: () => publishedIn(env) };
}

export async function makeOrganization(operatorUrl: string, slug: string): Promise<void> {
  const url = `${operatorUrl}/api/v1/admin/organizations`;
  const { status } = await call(url, { method: "POST", token: ADMIN_TOKEN, body: { slug } });
  if (status !== 201) throw new Error(`the organization was answered with ${status}`);
}

/** The data of all events, in the order in which they were published. */
export async function publishedIn({
  DATABASE_URL = "",
}: Record<string, string>): Promise<string[]> {
  const db = connect(DATABASE_URL, { max: 1, name: "test" });
  try {
    const rows = await db<{ data: string }[]>`select data from events order by id`;
    return rows.map(({ data }) => data);
  } finally {
    await db.end({ timeout: 1 });
  }
}

export interface Asked {
  path: string;
  headers: IncomingMessage["headers"];
  events: Record<string, unknown>[];
}

export type Reply = { status: number; headers?: Record<string, string>; body?: unknown } | "reset";

/** A server in place of the service. It answers publications as and when `reply` says, others with 200. */
export async function aFakeService(
  t: TestContext,
  reply: (asked: Asked) => Reply | Promise<Reply>,
) {
  const asked: Asked[] = [];
  const asking = new EventEmitter();
  const server = createServer((request, response) => {
    void textOf(request).then(async (body) => {
      const { url: path = "", headers } = request;
      if (request.method !== "POST") {
        response.end("{}");
        return;
      }
      const one = { path, headers, ...(JSON.parse(body) as Pick<Asked, "events">) };
      asked.push(one);
      const replying = reply(one);
      asking.emit("asked");
      const said = await replying;
      if (said === "reset") response.destroy();
      else {
        response
          .writeHead(said.status, said.headers)
          .end(JSON.stringify(said.body ?? accepted(one)));
      }
    });
  });
  const port = await openPort(t, server);
  /** Resolves when the condition holds for the publications so far. */
  const until = async (holds: (asked: readonly Asked[]) => boolean) => {
    while (!holds(asked)) await once(asking, "asked", { signal: t.signal });
  };
  return { url: `http://127.0.0.1:${port}`, asked, until };
}

function accepted({ events }: Asked) {
  return {
    items: events.map((_, i) => ({ event_id: `evt_${i}`, deliveries: 0, duplicate: false })),
  };
}

export interface TestedBridge extends RunningBridge {
  log: Record<string, unknown>[];
  /** Resolves when the log has a line that fits. */
  logged: (fits: (line: Record<string, unknown>) => boolean) => Promise<Record<string, unknown>>;
  get: (path: string) => Promise<{ status: number; text: string }>;
}

export interface BridgeRig {
  /** Of the service. */
  url: string;
  sources: object[];
  /** The variables that the sources name. */
  env?: Record<string, string>;
}

const publisherAt = (url: string) =>
  createPublisher({ url, token: PUBLISH_TOKEN, userAgent: "test" });

function read({ sources, env = {} }: BridgeRig): SourceConfiguration[] {
  const faults: string[] = [];
  const secrets = { env, readFile: () => "" };
  const found = readConfiguration(JSON.stringify({ sources }), secrets, faults);
  if (faults.length > 0) throw new Error(faults.join("\n"));
  return found;
}

/** The first source, opened without a bridge until the test ends. */
export function openSource(t: TestContext, rig: BridgeRig): Source {
  const [first] = read(rig);
  if (first === undefined) throw new Error("there is no source");
  const ignore = () => undefined;
  const source = first.open({
    stop: t.signal,
    log: { info: ignore, warn: ignore, error: ignore },
    now: systemClock,
    forget: ignore,
  });
  t.after(() => source.close());
  return source;
}

/** What `bridge --check` writes. */
export async function checked(rig: BridgeRig): Promise<string> {
  const lines: string[] = [];
  const ignore = () => undefined;
  await checkBridge({
    sources: read(rig),
    publisher: publisherAt(rig.url),
    log: { info: ignore, warn: ignore, error: ignore },
    now: systemClock,
    write: (line) => lines.push(line),
  });
  return lines.join("\n");
}

/** Runs a bridge in this process until the test ends. */
export async function aBridge(
  t: TestContext,
  rig: BridgeRig,
  delays: Delays = { firstMs: 5, maxMs: 20 },
): Promise<TestedBridge> {
  const log: TestedBridge["log"] = [];
  const logging = new EventEmitter();
  const note = (level: string) => (facts: object, msg: string) => {
    log.push({ level, ...facts, msg });
    logging.emit("line");
  };
  const bridge = await startBridge({
    sources: read(rig),
    publisher: publisherAt(rig.url),
    version: "1.2.3",
    host: "127.0.0.1",
    port: 0,
    logOf: () => ({ info: note("info"), warn: note("warn"), error: note("error") }),
    now: systemClock,
    delays,
  });
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= bridge.stop());
  t.after(stop);
  const logged: TestedBridge["logged"] = async (fits) => {
    for (;;) {
      const found = log.find(fits);
      if (found) return found;
      await once(logging, "line", { signal: t.signal });
    }
  };
  const get = async (path: string) => {
    const answer = await fetch(bridge.url + path);
    return { status: answer.status, text: await answer.text() };
  };
  return { ...bridge, stop, log, logged, get };
}

/** An empty database that is not the service's, with the outbox of the documentation. */
export async function anOutbox(
  t: TestContext,
  { server = process.env["TEST_DATABASE_URL"] ?? "", isKept = false } = {},
) {
  const name = `outbox_${crypto.randomUUID().replaceAll("-", "")}`;
  const admin = connect(server, { max: 1, name: "test admin" });
  await admin.unsafe(`create database ${name}`);
  const url = Object.assign(new URL(server), { pathname: name }).href;
  const db = connect(url, { max: 2, name: "test outbox" });
  await db.unsafe(OUTBOX);
  t.after(async () => {
    await db.end({ timeout: 1 });
    if (!isKept) await admin.unsafe(`drop database ${name} with (force)`);
    await admin.end({ timeout: 1 });
  });
  return { url, db, name };
}

/** Writes rows with `n` from `first` to `last` into an outbox. `bad` ones can never be published. */
export async function fillOutbox(
  db: Database,
  {
    first = 1,
    last,
    keys = 10,
    bad = [],
  }: { first?: number; last: number; keys?: number; bad?: number[] },
): Promise<void> {
  await db`
    insert into outbox (organization, type, key, data)
    select 'acme', 'order.created', 'k' || n % ${keys}::integer,
           json_build_object('n', case when n = any(${bad}::integer[]) then -n else n end)
      from generate_series(${first}::integer, ${last}::integer) as n`;
}

/** As docs/bridge.md has it, which a test compares. */
export const OUTBOX = `create table outbox (
  id            bigint generated always as identity primary key,
  organization  text not null,
  type          text not null,
  data          json not null,
  key           text,
  occurred_at   timestamptz not null default now(),
  traceparent   text,
  published_at  timestamptz,
  set_aside     text
);
create index outbox_open on outbox (id) where published_at is null and set_aside is null;`;
