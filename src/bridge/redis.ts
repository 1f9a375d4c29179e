import { randomUUID } from "node:crypto";
import { isIPv6 } from "node:net";
import type { RedisClientOptions, RedisFunctions, RedisModules, RedisScripts } from "@redis/client";
import { textOf } from "./document.ts";
import { byPointer } from "./event.ts";
import type { Settings } from "./settings.ts";
import {
  loadClient,
  type Message,
  type Source,
  type SourceContext,
  SourceFault,
} from "./source.ts";

interface RedisSettings {
  url: string;
  client: RedisClientOptions<RedisModules, RedisFunctions, RedisScripts, 2>;
  streams: string[];
  group: string;
  /** The field that holds the message. Null: the message is the object of all fields. */
  field: string | null;
  begin: "earliest" | "latest";
  /** What another consumer holds is taken over when nothing was heard of it for so long. */
  claimMs: number;
  /** False: entries are deleted when their events are durable. */
  keeps: boolean;
  /** The stream for what is set aside. */
  aside: string;
}

interface RedisMessage extends Message {
  stream: string;
  id: string;
  /** Names and values in turn. */
  fields: Buffer[];
}

type Reply = null | number | string | Buffer | Reply[];
type Command = readonly (string | Buffer)[];
type Ask = (command: Command) => Promise<Reply>;

/** One connection waits for entries, and the other one does everything else. Each has a way to ask for bytes, and not for texts. */
interface Connected {
  ask: Ask;
  askForBytes: Ask;
  wait: Ask;
  waitForBytes: Ask;
  close: () => void;
  isLost: boolean;
}

interface Opened extends Connected {
  /** Up to where this consumer's own entries were read again, by stream. After them, the new ones are read. */
  again: Map<string, string>;
  nextClaimMs: number;
  /** Keeps what is held from being claimed. */
  timer: NodeJS.Timeout;
}

const NAME = "partner-api-bridge";
const CONNECT_MS = 10_000;
/** A server that is silent for so long is gone. */
const SILENCE_MS = 15_000;
const PING_MS = 5_000;
/** More than a pump holds. */
const HELD_MAX = 10_000;
/** A consumer that has no entries and is silent for so long is forgotten. */
const FORGET_MS = 3_600_000;

export function redisSource(settings: Settings) {
  const url = settings.text("url");
  settings.requireUrls("url", [url], ["redis://", "rediss://"]);
  const aside = settings.below("set_aside");
  const claim = { minMs: 1_000, maxMs: 3_600_000, fallbackMs: 15_000 };
  const read: RedisSettings = {
    url,
    client: {
      ...{ RESP: 2, name: NAME, pingInterval: PING_MS, disableOfflineQueue: true },
      socket: {
        ...{ connectTimeout: CONNECT_MS, socketTimeout: SILENCE_MS, reconnectStrategy: false },
        ...settings.tls([url], "rediss://"),
      },
    },
    streams: settings.texts("streams"),
    group: settings.text("group", NAME),
    field: settings.optionalText("field"),
    begin: settings.choice("begin", ["earliest", "latest"], "earliest"),
    claimMs: settings.duration("claim_after", claim),
    keeps: settings.choice("when_published", ["keep", "delete"], "keep") === "keep",
    aside: aside.text("stream"),
  };
  aside.end();
  return {
    defaults: byPointer("organization", "type", "data", "occurred_at", "dedupe_key"),
    open: (context: SourceContext): Source => new RedisSource(read, context as never),
  };
}

/**
 * Reads streams as a consumer of a group. What it holds is kept from being claimed, and it claims what another consumer has left, so a
 * crash costs only duplicates.
 */
class RedisSource implements Source<RedisMessage> {
  readonly #settings: RedisSettings;
  readonly #context: SourceContext<RedisMessage>;
  readonly #consumer = `${NAME}-${randomUUID()}`;
  #opened: Opened | null = null;
  /** The ids that were returned and are not settled, by stream. */
  readonly #held: ReadonlyMap<string, Set<string>>;
  /** How many entries were removed when that was noted last, by stream. */
  readonly #noted = new Map<string, number>();
  /** A group that has vanished begins at the beginning again. */
  #begin: "0" | "$";

  constructor(settings: RedisSettings, context: SourceContext<RedisMessage>) {
    this.#settings = settings;
    this.#context = context;
    this.#held = new Map(settings.streams.map((stream) => [stream, new Set()]));
    this.#begin = settings.begin === "earliest" ? "0" : "$";
  }

  async receive(max: number, waitMs: number): Promise<RedisMessage[]> {
    const opened = (this.#opened ??= await this.#open());
    try {
      if (opened.isLost) throw new Error("the connection to the server was lost");
      const left = await this.#claim(opened, max);
      return left.length > 0 ? left : await this.#read(opened, max, waitMs);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async acknowledge(messages: RedisMessage[]): Promise<void> {
    for (const stream of this.#settings.streams) {
      const ids = messages.filter((one) => one.stream === stream).map(({ id }) => id);
      if (ids.length > 0) await this.#settle(stream, ids);
    }
  }

  /** Not in a transaction: Redis goes on with one of which a command has failed, and so would acknowledge what is not kept. */
  async setAside({ stream, id, fields, identity }: RedisMessage, reason: string): Promise<boolean> {
    if (!this.#opened || this.#opened.isLost || !this.#held.get(stream)?.has(id)) return false;
    const added = ["partner-api-reason", reason, "partner-api-source", identity ?? ""];
    await this.#opened.ask(["XADD", this.#settings.aside, "*", ...fields, ...added]);
    await this.#settle(stream, [id]);
    return true;
  }

  /** After deletions, Redis may not know how many entries were not read. */
  async lag() {
    if (this.#opened === null) return null;
    let messages = 0;
    for (const stream of this.#settings.streams) {
      const { lag, pending } = (await this.#groupOf(this.#opened.ask, stream)) ?? {};
      if (typeof lag !== "number") return null;
      messages += lag + Number(pending);
    }
    return { messages };
  }

  /** Creates no group, and takes nothing from one. */
  async check() {
    const { streams, group } = this.#settings;
    const { ask, askForBytes, close } = await this.#connect();
    const facts: string[] = [];
    const first: Message[] = [];
    try {
      for (const stream of streams) {
        const found = await this.#groupOf(ask, stream);
        const entries = Number(await ask(["XLEN", stream]));
        const state = found ? `holds ${String(found["pending"])}` : "is created at the start";
        facts.push(`stream ${stream} of ${entries} entries, the group ${group} ${state}`);
        const from = found ? `(${String(found["last-delivered-id"])}` : "-";
        const next = await askForBytes(["XRANGE", stream, from, "+", "COUNT", "1"]);
        first.push(...entriesOf(next).map((entry) => this.#messageOf(stream, entry)));
      }
      facts.push(...(await warningsOf(ask)));
      return { facts, first: first[0] ?? null };
    } finally {
      close();
    }
  }

  /** Redis reads its files before it executes commands. A node of a cluster also waits for the others. */
  isStarting(error: unknown): boolean {
    return /^(?:LOADING|CLUSTERDOWN) /.test((error as Error).message);
  }

  /** What is held is left to others, and to this consumer's next connection. */
  close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = null;
    clearInterval(opened?.timer);
    opened?.close();
    for (const ids of this.#held.values()) ids.clear();
    return Promise.resolve();
  }

  async #open(): Promise<Opened> {
    const { streams, group, claimMs } = this.#settings;
    const connected = await this.#connect();
    try {
      for (const stream of streams) {
        const create = ["XGROUP", "CREATE", stream, group, this.#begin, "MKSTREAM"];
        await connected.ask(create).catch(unlessItIsThere);
      }
    } catch (error) {
      connected.close();
      throw error;
    }
    this.#begin = "0";
    const extend = () => void this.#extend(connected.ask).catch(() => undefined);
    const again = new Map(streams.map((stream) => [stream, "0"]));
    return Object.assign(connected, {
      ...{ again, nextClaimMs: 0, timer: setInterval(extend, claimMs / 3) },
    });
  }

  /** A node of a cluster names the one that keeps a stream. One has to keep them all. */
  async #connect(): Promise<Connected> {
    const { url, streams, aside } = this.#settings;
    const names = [...streams, aside];
    const connected = await this.#connectTo(url);
    const [address] = await addressesElsewhere(connected.ask, names);
    if (address === undefined) return connected;
    connected.close();
    const other = await this.#connectTo(atAddress(url, address));
    if ((await addressesElsewhere(other.ask, names)).length === 0) return other;
    other.close();
    throw new SourceFault(
      `the cluster keeps ${names.join(" and ")} on different nodes: give them one hash tag, such as {orders} and {orders}.aside`,
    );
  }

  async #connectTo(url: string): Promise<Connected> {
    const redis = await loadClient("@redis/client", () => import("@redis/client"));
    const typeMapping = { [redis.RESP_TYPES.BLOB_STRING]: Buffer };
    const options = { ...this.#settings.client, url };
    const [writer, reader] = [0, 1].map(() => redis.createClient(options)) as [
      ReturnType<typeof redis.createClient>,
      ReturnType<typeof redis.createClient>,
    ];
    const askOf =
      (client: typeof writer, ...options: [{ typeMapping: object }?]): Ask =>
      (command) =>
        client.sendCommand<Reply>(command, ...options).catch((error: unknown) => {
          connected.isLost ||= isElsewhere(error);
          throw error;
        });
    const connected: Connected = {
      ask: askOf(writer),
      askForBytes: askOf(writer, { typeMapping }),
      wait: askOf(reader),
      waitForBytes: askOf(reader, { typeMapping }),
      close: () => {
        for (const client of [writer, reader]) if (client.isOpen) client.destroy();
      },
      isLost: false,
    };
    for (const client of [writer, reader]) client.on("error", () => (connected.isLost = true));
    try {
      await Promise.all([writer.connect(), reader.connect()]);
      return connected;
    } catch (error) {
      connected.close();
      throw error;
    }
  }

  async #settle(stream: string, ids: readonly string[]): Promise<void> {
    if (this.#opened === null || this.#opened.isLost) return;
    const { group, keeps } = this.#settings;
    await this.#opened.ask(["XACK", stream, group, ...ids]);
    if (!keeps) await this.#opened.ask(["XDEL", stream, ...ids]);
    for (const id of ids) this.#held.get(stream)?.delete(id);
  }

  /** Reads what this consumer had before its connection was lost, and then what is new. */
  async #read(opened: Opened, max: number, waitMs: number): Promise<RedisMessage[]> {
    const { streams, group } = this.#settings;
    const count = String(Math.ceil(max / streams.length));
    const read = ["XREADGROUP", "GROUP", group, this.#consumer, "COUNT", count];
    const [[stream, last] = []] = opened.again;
    if (stream !== undefined && last !== undefined) {
      const reply = await opened.waitForBytes([...read, "STREAMS", stream, last]);
      const entries = streamsOf(reply).flatMap(([, found]) => found);
      const next = entries.at(-1)?.id;
      if (next === undefined) opened.again.delete(stream);
      else opened.again.set(stream, next);
      return this.#hold(stream, entries);
    }
    const news = [...streams, ...streams.map(() => ">")];
    const noted = Promise.all(streams.map((one) => this.#noteDeletions(opened, one)));
    const [reply] = await Promise.all([
      opened.waitForBytes([...read, "BLOCK", String(waitMs), "STREAMS", ...news]),
      noted, // Asked before, on the same connection.
    ]);
    const found = await Promise.all(
      streamsOf(reply).map(([one, entries]) => this.#hold(one, entries)),
    );
    return found.flat();
  }

  /** Takes over what other consumers have left. */
  async #claim(opened: Opened, max: number): Promise<RedisMessage[]> {
    const { streams, group, claimMs } = this.#settings;
    if (performance.now() < opened.nextClaimMs) return [];
    for (const stream of streams) {
      const claim = ["XAUTOCLAIM", stream, group, this.#consumer, String(claimMs), "0"];
      const [, claimed = [], deleted = []] = (await opened.askForBytes([
        ...claim,
        ...["COUNT", String(max)],
      ])) as Reply[][];
      if (deleted.length > 0) this.#noteDeleted(stream, deleted.map(String));
      // Redis 6.2 does not say which entries were deleted. Those are this consumer's now, and are read with its own.
      if (claimed.includes(null)) opened.again.set(stream, "0");
      const left = await this.#hold(stream, entriesOf(claimed));
      if (left.length > 0) return left;
      await this.#forgetConsumers(opened.ask, stream);
    }
    opened.nextClaimMs = performance.now() + claimMs / 3;
    return [];
  }

  /** An entry without fields was deleted, and no one can publish it. */
  async #hold(stream: string, entries: readonly Entry[]): Promise<RedisMessage[]> {
    const held = this.#held.get(stream);
    const news = entries.filter(({ id }) => held?.has(id) === false);
    const gone = news.filter(({ fields }) => fields === null).map(({ id }) => id);
    if (gone.length > 0) {
      this.#noteDeleted(stream, gone);
      await this.#settle(stream, gone);
    }
    const found = news.filter(({ fields }) => fields !== null);
    for (const { id } of found) held?.add(id);
    return found.map((entry) => this.#messageOf(stream, entry));
  }

  #noteDeleted(stream: string, entries: string[]): void {
    this.#context.log.error({ stream, entries }, "deleted before they were published");
  }

  /** Resets the idle time of what is held. Forgets what another consumer has claimed meanwhile. */
  async #extend(ask: Ask): Promise<void> {
    const { group } = this.#settings;
    for (const [stream, held] of this.#held) {
      if (held.size === 0) continue;
      const range = ["XPENDING", stream, group, "-", "+", String(HELD_MAX), this.#consumer];
      const own = new Set(((await ask(range)) as Reply[][]).map(([id]) => String(id)));
      const lost = new Set([...held].filter((id) => !own.has(id)));
      for (const id of lost) held.delete(id);
      this.#context.forget((one) => one.stream === stream && lost.has(one.id));
      if (held.size > 0)
        await ask(["XCLAIM", stream, group, this.#consumer, "0", ...held, "JUSTID"]);
    }
  }

  /** Says that entries were deleted before this group has read them. Redis passes over them without a word. */
  async #noteDeletions({ wait }: Opened, stream: string): Promise<void> {
    const [about, group] = await Promise.all([
      wait(["XINFO", "STREAM", stream]).then(recordOf),
      this.#groupOf(wait, stream),
    ]);
    const removed = Number(about["entries-added"]) - Number(about["length"]);
    if (group === null || !hasMissed(group, about, removed)) return;
    if (this.#noted.get(stream) === removed) return;
    this.#noted.set(stream, removed);
    const { "last-delivered-id": read } = group;
    this.#context.log.error(
      { stream, read, removed },
      "entries were deleted before they were read",
    );
  }

  /** Each start of a bridge is a consumer of its own. */
  async #forgetConsumers(ask: Ask, stream: string): Promise<void> {
    const { group } = this.#settings;
    for (const reply of (await ask(["XINFO", "CONSUMERS", stream, group])) as Reply[]) {
      const { name, pending, idle } = recordOf(reply);
      const isOurs = String(name).startsWith(`${NAME}-`) && name !== this.#consumer;
      if (isOurs && pending === 0 && Number(idle) > FORGET_MS)
        await ask(["XGROUP", "DELCONSUMER", stream, group, String(name)]);
    }
  }

  /** Returns null if there is no such group, or no such stream. */
  async #groupOf(ask: Ask, stream: string): Promise<Record<string, Reply> | null> {
    const groups = (await ask(["XINFO", "GROUPS", stream]).catch(noneWithoutStream)) as Reply[];
    return groups.map(recordOf).find(({ name }) => name === this.#settings.group) ?? null;
  }

  #messageOf(stream: string, { id, fields }: Entry): RedisMessage {
    const { field } = this.#settings;
    const values = new Map<string, Buffer>();
    for (let i = 0; i < (fields?.length ?? 0); i += 2)
      values.set(String(fields?.[i]), fields?.[i + 1] ?? Buffer.alloc(0));
    const texts = [...values].map(([name, value]) => [name, textOf(value)] as const);
    return {
      ...{ stream, id, fields: fields ?? [], lane: stream, identity: `${stream}/${id}` },
      body: field === null ? JSON.stringify(Object.fromEntries(texts)) : (values.get(field) ?? ""),
      headers: new Map(texts.map(([name, text]) => [name.toLowerCase(), text])),
      from: { stream },
    };
  }
}

interface Entry {
  id: string;
  /** Null if it was deleted. */
  fields: Buffer[] | null;
}

function entriesOf(reply: Reply): Entry[] {
  const entries = (reply ?? []) as ([Buffer, Buffer[] | null] | null)[];
  return entries
    .filter((entry) => entry !== null)
    .map(([id, fields]) => ({ id: id.toString(), fields }));
}

function streamsOf(reply: Reply): [stream: string, entries: Entry[]][] {
  return ((reply ?? []) as [Buffer, Reply][]).map(([stream, entries]) => [
    stream.toString(),
    entriesOf(entries),
  ]);
}

/** Redis answers with names and values in turn. */
function recordOf(reply: Reply): Record<string, Reply> {
  const items = reply as Reply[];
  const pairs = items.flatMap((name, i) => (i % 2 === 0 ? [[String(name), items[i + 1]]] : []));
  return Object.fromEntries(pairs) as Record<string, Reply>;
}

/** Trimming does not count as a deletion, but removes the entries that were read before all others. */
function hasMissed(
  group: Record<string, Reply>,
  { "max-deleted-entry-id": deleted }: Record<string, Reply>,
  removed: number,
): boolean {
  const { "entries-read": read, "last-delivered-id": last } = group;
  if (typeof read === "number" && removed > read) return true;
  return typeof deleted === "string" && isAfter(deleted, String(last));
}

/** Compares ids by milliseconds, and then by sequence. */
function isAfter(one: string, other: string): boolean {
  const [ms = 0n, sequence = 0n] = one.split("-").map(BigInt);
  const [otherMs = 0n, otherSequence = 0n] = other.split("-").map(BigInt);
  return ms === otherMs ? sequence > otherSequence : ms > otherMs;
}

/** What of the server's settings can lose messages. */
async function warningsOf(ask: Ask): Promise<string[]> {
  const info = String(await ask(["INFO"]));
  const warnings: string[] = [];
  if (/^aof_enabled:0/m.test(info))
    warnings.push("the append-only file is off: a crash of the server loses entries");
  const [, policy] = /^maxmemory_policy:(allkeys-\S+)/m.exec(info) ?? [];
  if (policy !== undefined) warnings.push(`the server may evict a stream (${policy})`);
  return warnings;
}

/** A server that became a replica, or gave a stream to another node, keeps its connections. */
function isElsewhere(error: unknown): boolean {
  return /^(?:READONLY|MOVED) /.test((error as Error).message);
}

/** The `host:port` of the nodes that keep what this one does not keep. */
async function addressesElsewhere(ask: Ask, streams: readonly string[]): Promise<string[]> {
  const addresses: string[] = [];
  for (const stream of streams) {
    const refusal = await ask(["XLEN", stream]).then(() => "", messageOf);
    const [, address] = /^MOVED \d+ (\S*:\d+)$/.exec(refusal) ?? [];
    if (address !== undefined) addresses.push(address);
  }
  return addresses;
}

function messageOf(error: unknown): string {
  return (error as Error).message;
}

/** A node that does not know its own host names the port alone. */
function atAddress(url: string, address: string): string {
  const moved = new URL(url);
  const [, host = "", port = ""] = /^(.*):(\d+)$/.exec(address) ?? [];
  if (host !== "") moved.hostname = isIPv6(host) ? `[${host}]` : host;
  moved.port = port;
  return moved.href;
}

function noneWithoutStream(error: unknown): [] {
  if ((error as Error).message.includes("no such key")) return [];
  throw error;
}

function unlessItIsThere(error: unknown): void {
  if (!(error as Error).message.startsWith("BUSYGROUP")) throw error;
}
