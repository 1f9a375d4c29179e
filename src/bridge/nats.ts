import type {
  Consumer,
  ConsumerInfo,
  JetStreamClient,
  JetStreamManager,
  JsMsg,
  MsgRequest,
} from "@nats-io/jetstream";
import type { MsgHdrs, NatsConnection, NodeConnectionOptions } from "@nats-io/transport-node";
import { Inbox } from "./inbox.ts";
import type { Settings } from "./settings.ts";
import {
  loadClient,
  type Message,
  type Source,
  type SourceContext,
  SourceFault,
} from "./source.ts";

interface NatsSettings {
  client: NodeConnectionOptions;
  auth: { user: string; pass: string } | { token: string } | { creds: string } | null;
  /** Of JetStream, behind a leaf node. Empty: the server's own. */
  domain: { domain?: string };
  stream: string;
  consumer: string;
  /** Of a consumer that the bridge creates. Empty: all of the stream. */
  subjects: string[];
  begin: "earliest" | "latest";
  /** The subject for what is set aside. */
  aside: string;
}

interface NatsMessage extends Message {
  delivery: JsMsg;
}

interface Opened {
  connection: NatsConnection;
  jetstream: JetStreamClient;
  consumer: Consumer;
  /** Tells the server that what is held is worked on. */
  timer: NodeJS.Timeout;
  isLost: boolean;
}

const CONNECT_MS = 10_000;
/** One request to the server, which waits for the first message. */
const FETCH = { messages: 500, bytes: 4 * 1024 * 1024, expires: 5_000 };
const ACK_WAIT_MS = 10_000;
const PENDING_MAX = 2_000;
const NAK = "-NAK";
/** JetStream is temporarily not available. */
const NOT_AVAILABLE = 10_008;
const SILENT = "JetStream does not answer, as in a cluster without a leader";

export function natsSource(settings: Settings) {
  const aside = settings.below("set_aside");
  const servers = settings.texts("servers");
  const read: NatsSettings = {
    client: {
      servers,
      ...{ name: "partner-api bridge", timeout: CONNECT_MS, reconnect: false },
      tls: settings.tlsByName(servers),
    },
    auth: readAuth(settings.below("auth")),
    domain: readDomain(settings),
    stream: settings.text("stream"),
    consumer: settings.text("consumer", "partner-api-bridge"),
    subjects: settings.texts("subjects", []),
    begin: settings.choice("begin", ["earliest", "latest"], "earliest"),
    aside: aside.text("subject"),
  };
  aside.end();
  return {
    defaults: {},
    open: (context: SourceContext): Source => new NatsSource(read, context as never),
  };
}

function readAuth(settings: Settings): NatsSettings["auth"] {
  const [token, creds] = [settings.optionalText("token"), settings.optionalText("creds")];
  const user = settings.optionalText("username");
  const pass = user === null ? "" : settings.text("password");
  settings.end();
  if (token !== null) return { token };
  if (creds !== null) return { creds };
  return user === null ? null : { user, pass };
}

function readDomain(settings: Settings): NatsSettings["domain"] {
  const domain = settings.optionalText("domain");
  return domain === null ? {} : { domain };
}

/**
 * Pulls from a durable consumer of a stream. What is held is kept from being delivered again, for as long as this process runs. What a
 * lost connection leaves open is given back over the next one.
 */
class NatsSource implements Source<NatsMessage> {
  readonly #settings: NatsSettings;
  readonly #context: SourceContext<NatsMessage>;
  readonly #inbox: Inbox<NatsMessage>;
  #opened: Opened | null = null;
  /** The messages that were received and are not settled. */
  readonly #held = new Set<JsMsg>();
  /** The subjects on which the server hears of messages that a lost connection has left open. */
  #leftOpen: string[] = [];
  #messageBytes = FETCH.bytes / 50;
  #wasOpened = false;

  constructor(settings: NatsSettings, context: SourceContext<NatsMessage>) {
    this.#settings = settings;
    this.#context = context;
    this.#inbox = new Inbox(context.stop);
  }

  async receive(max: number, waitMs: number): Promise<NatsMessage[]> {
    if (this.#opened === null) void this.#fetchAll(await this.#open());
    try {
      return await this.#inbox.take(max, waitMs);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  acknowledge(messages: NatsMessage[]): Promise<void> {
    for (const { delivery } of messages) {
      if (this.#held.delete(delivery)) delivery.ack();
    }
    return Promise.resolve();
  }

  async setAside(message: NatsMessage, reason: string): Promise<boolean> {
    if (!this.#opened || this.#opened.isLost || !this.#held.has(message.delivery)) return false;
    await publishAside(this.#opened, this.#settings.aside, message, reason);
    await this.acknowledge([message]);
    return true;
  }

  async lag() {
    if (this.#opened === null) return null;
    const { num_pending: waiting, num_ack_pending: held } = await this.#opened.consumer.info();
    return { messages: waiting + held };
  }

  /** Creates no consumer, and takes nothing from one. */
  async check() {
    const { stream, consumer: name } = this.#settings;
    const { manager, connection } = await this.#connect();
    try {
      const { state } = await this.#requireStreams(manager);
      const consumer = await findConsumer(manager, stream, name);
      if (consumer !== null) this.#requireConsumer(consumer);
      const facts = [
        `stream ${stream} of ${state.messages} messages`,
        consumer === null
          ? `the consumer ${name} is created at the start`
          : `consumer ${name}, ${consumer.num_pending} messages wait`,
      ];
      const seq = Math.max(
        1,
        consumer === null ? state.first_seq : consumer.ack_floor.stream_seq + 1,
      );
      const [subject = ">"] = this.#settings.subjects;
      const next = { seq, next_by_subj: subject } as MsgRequest;
      const found = await manager.streams.getMessage(stream, next);
      return { facts, first: found && toMessage(stream, found, found.header) };
    } catch (error) {
      throw explained(error);
    } finally {
      await connection.close();
    }
  }

  /** The servers of a cluster elect a leader first. Before they miss it, they do not answer. */
  isStarting(error: unknown): boolean {
    const { code, message } = error as { code?: unknown; message?: string };
    return code === NOT_AVAILABLE || message === SILENT;
  }

  /** What is held goes back to the server at once, if it still hears us, or over the next connection. */
  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = null;
    this.#inbox.clear();
    if (opened === null) return;
    clearInterval(opened.timer);
    if (opened.isLost) this.#leftOpen.push(...[...this.#held].map(replyOf));
    else for (const delivery of this.#held) delivery.nak();
    this.#held.clear();
    await opened.connection.drain().catch(() => undefined);
  }

  async #open(): Promise<Opened> {
    const { stream, consumer: name } = this.#settings;
    const { connection, manager, jetstream } = await this.#connect();
    try {
      await this.#requireStreams(manager);
      const info = await this.#findOrCreate(manager);
      this.#requireConsumer(info);
      const consumer = await jetstream.consumers.get(stream, name);
      for (const reply of this.#leftOpen) connection.publish(reply, NAK);
      this.#leftOpen = [];
      this.#inbox.clear();
      const timer = setInterval(() => this.#extend(), ackWaitMs(info) / 3);
      const opened = { connection, jetstream, consumer, timer, isLost: false };
      this.#opened = opened;
      this.#wasOpened = true;
      void connection.closed().then((error) => {
        this.#lose(opened, error ?? new Error("the connection to the server has ended"));
      });
      return opened;
    } catch (error) {
      await connection.close();
      throw explained(error);
    }
  }

  #lose(opened: Opened, error: Error): void {
    if (this.#opened !== opened) return;
    opened.isLost = true;
    this.#inbox.fail(error);
  }

  #extend(): void {
    for (const delivery of this.#held) delivery.working();
  }

  /** One request after the other, while there is room. */
  async #fetchAll(opened: Opened): Promise<void> {
    try {
      while (this.#opened === opened && !this.#context.stop.aborted) {
        if (this.#inbox.isFull) await this.#inbox.room(FETCH.expires);
        else await this.#fetch(opened);
      }
    } catch (error) {
      this.#lose(opened, error as Error);
    }
  }

  /** The client bounds a request by messages or by bytes, and not by both. */
  async #fetch(opened: Opened): Promise<void> {
    const { stream } = this.#settings;
    const fitting = Math.floor(FETCH.bytes / this.#messageBytes);
    const messages = await opened.consumer.fetch({
      max_messages: Math.max(1, Math.min(FETCH.messages, fitting)),
      expires: FETCH.expires,
    });
    const stop = () => messages.stop();
    this.#context.stop.addEventListener("abort", stop);
    let [count, bytes] = [0, 0];
    try {
      for await (const delivery of messages) {
        this.#held.add(delivery);
        this.#inbox.put({ ...toMessage(stream, delivery, delivery.headers), delivery });
        count++;
        bytes += delivery.data.length;
      }
    } finally {
      this.#context.stop.removeEventListener("abort", stop);
    }
    if (count > 0) this.#messageBytes = Math.max(1, bytes / count);
  }

  async #connect() {
    const nats = await loadClient(
      "@nats-io/transport-node",
      () => import("@nats-io/transport-node"),
    );
    const { jetstream, jetstreamManager } = await loadClient(
      "@nats-io/jetstream",
      () => import("@nats-io/jetstream"),
    );
    const { client, auth, domain } = this.#settings;
    const authenticator =
      auth !== null && "creds" in auth
        ? { authenticator: nats.credsAuthenticator(new TextEncoder().encode(auth.creds)) }
        : auth;
    const connection = await nats.connect({ ...client, ...authenticator });
    try {
      const manager = await jetstreamManager(connection, domain);
      return { connection, manager, jetstream: jetstream(connection, domain) };
    } catch (error) {
      await connection.close();
      throw explained(error);
    }
  }

  /** What is set aside must be kept by another stream, or the bridge would receive it again. */
  async #requireStreams(manager: JetStreamManager) {
    const { stream, aside } = this.#settings;
    const found = await manager.streams.info(stream).catch((error: unknown) => {
      throw isMissing(error) ? new SourceFault(`there is no stream ${stream}`) : error;
    });
    const keeper = await manager.streams.find(aside).catch((error: unknown) => {
      throw isMissing(error) ? new SourceFault(`no stream keeps the subject ${aside}`) : error;
    });
    if (keeper === stream)
      throw new SourceFault(`the stream ${stream} itself keeps ${aside}: it must be another one`);
    return found;
  }

  async #findOrCreate(manager: JetStreamManager): Promise<ConsumerInfo> {
    const { stream, consumer, subjects, begin } = this.#settings;
    const found = await findConsumer(manager, stream, consumer);
    if (found === null && this.#wasOpened)
      throw new SourceFault(
        `the consumer ${consumer} was deleted, and with it what was published: create it again where it shall go on`,
      );
    return (
      found ??
      manager.consumers.add(stream, {
        durable_name: consumer,
        ack_policy: "explicit",
        deliver_policy: begin === "earliest" ? "all" : "new",
        ack_wait: ACK_WAIT_MS * NANOSECONDS,
        max_deliver: -1,
        max_ack_pending: PENDING_MAX,
        ...(subjects.length > 0 ? { filter_subjects: subjects } : {}),
      })
    );
  }

  /** Throws a fault that names everything because of which messages would be lost. */
  #requireConsumer({ name, config }: ConsumerInfo): void {
    const { subjects } = this.#settings;
    const faults: string[] = [];
    if (config.ack_policy !== "explicit") faults.push("ack_policy must be explicit");
    if (config.deliver_subject !== undefined) faults.push("it pushes, and must pull");
    if ((config.max_deliver ?? -1) > 0)
      faults.push(
        `max_deliver is ${config.max_deliver}, after which the server gives a message up`,
      );
    if ((config.inactive_threshold ?? 0) > 0)
      faults.push("it has an inactive_threshold, after which the server deletes it");
    const filter = config.filter_subjects ?? [config.filter_subject ?? ""];
    if (subjects.length > 0 && filter.toSorted().join() !== subjects.toSorted().join())
      faults.push(`its filter is ${filter.join(", ") || "empty"}, and not ${subjects.join(", ")}`);
    if (faults.length > 0) throw new SourceFault(`the consumer ${name}: ${faults.join("; ")}`);
  }
}

const NANOSECONDS = 1_000_000;

function ackWaitMs({ config }: ConsumerInfo): number {
  return (
    Math.min(config.ack_wait ?? Infinity, ...(config.backoff ?? []), 60_000 * NANOSECONDS) /
    NANOSECONDS
  );
}

async function findConsumer(manager: JetStreamManager, stream: string, name: string) {
  return manager.consumers.info(stream, name).catch((error: unknown) => {
    if (isMissing(error)) return null;
    throw error;
  });
}

/** The client says of a request without an answer only that it has timed out. */
function explained(error: unknown): unknown {
  return (error as Error).name === "TimeoutError" ? new Error(SILENT) : error;
}

/** A stream, a consumer, or a stream for a subject. */
function isMissing(error: unknown): boolean {
  return /not found|no stream matches/i.test((error as Error).message);
}

/** What the client's types leave out. */
function replyOf(delivery: JsMsg): string {
  return (delivery as unknown as { reply: string }).reply;
}

/**
 * The server's own headers stay behind: with the id of the message, a stream would take it for one that it has. A message without
 * room for headers is kept without any, and its reason is in the log alone.
 */
async function publishAside(
  { jetstream }: Opened,
  subject: string,
  { delivery, identity }: NatsMessage,
  reason: string,
): Promise<void> {
  const { headers } = await import("@nats-io/transport-node");
  const kept = headers();
  for (const [name, values] of delivery.headers ?? [])
    if (!/^nats-/i.test(name)) for (const value of values) kept.append(name, value);
  kept.set("partner-api-reason", reason.replace(/\s+/g, " "));
  kept.set("partner-api-source", identity ?? "");
  try {
    await jetstream.publish(subject, delivery.data, { headers: kept });
  } catch (error) {
    if (!(error as Error).message.includes("max_payload")) throw error;
    await jetstream.publish(subject, delivery.data);
  }
}

function toMessage(
  stream: string,
  { seq, data, subject }: Pick<JsMsg, "seq" | "data" | "subject">,
  headers: MsgHdrs | undefined,
): Message {
  const texts = new Map<string, string>();
  for (const [written, values] of headers ?? []) {
    const name = written.toLowerCase();
    const value = values.at(-1) ?? "";
    texts.set(name, name.startsWith("ce-") ? percentDecoded(value) : value);
  }
  const from = { stream, subject };
  return { lane: subject, identity: `${stream}/${seq}`, body: data, headers: texts, from };
}

/** CloudEvents encode in NATS what a header cannot hold. */
function percentDecoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
