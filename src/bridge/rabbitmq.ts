import type {
  Channel,
  ChannelModel,
  ConfirmChannel,
  ConsumeMessage,
  GetMessage,
  Message as Delivery,
  MessageProperties,
  Options,
} from "amqplib";
import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { isObject } from "../lib/objects.ts";
import { textOf } from "./document.ts";
import { Inbox } from "./inbox.ts";
import type { Settings, Tls } from "./settings.ts";
import {
  loadClient,
  type Message,
  type Source,
  type SourceContext,
  SourceFault,
} from "./source.ts";

interface RabbitMqSettings {
  /** The nodes of a cluster. Each connection tries the next one. */
  urls: string[];
  tls: Tls | null;
  /** The certificate says who the bridge is. */
  isExternal: boolean;
  queues: string[];
  prefetch: number;
  /** Where a message goes that is set aside. To an exchange it goes with its own routing key. */
  aside: { queue: string } | { exchange: string };
}

interface RabbitMqMessage extends Message {
  delivery: Delivery;
  /** A message can be acknowledged on the channel that delivered it, and on no other. */
  channel: ConfirmChannel;
}

interface Opened {
  connection: ChannelModel;
  channel: ConfirmChannel;
  /** The messages that were delivered and are not settled. */
  unsettled: number;
  isLost: boolean;
}

const CONNECT_MS = 10_000;
/** A broker that is silent for two of them is gone. */
const HEARTBEAT_S = "10";

export function rabbitMqSource(settings: Settings) {
  const urls = settings.texts("url");
  settings.requireUrls("url", urls, ["amqp://", "amqps://"]);
  const read: RabbitMqSettings = {
    urls,
    tls: settings.tls(urls, "amqps://"),
    isExternal: settings.choice("auth", ["plain", "external"], "plain") === "external",
    queues: settings.texts("queues"),
    prefetch: settings.integer("prefetch", { min: 1, max: 10_000, fallback: 1_000 }),
    aside: readAside(settings.below("set_aside")),
  };
  return {
    defaults: {},
    open: (context: SourceContext): Source => new RabbitMqSource(read, context as never),
  };
}

function readAside(settings: Settings): RabbitMqSettings["aside"] {
  const exchange = settings.optionalText("exchange");
  const aside = exchange === null ? { queue: settings.text("queue") } : { exchange };
  settings.end();
  return aside;
}

/**
 * Consumes queues over AMQP 0-9-1. What is not acknowledged on the channel that delivered it is delivered again, so a lost
 * connection costs only duplicates.
 */
class RabbitMqSource implements Source<RabbitMqMessage> {
  readonly #settings: RabbitMqSettings;
  readonly #inbox: Inbox<RabbitMqMessage>;
  #opened: Opened | null = null;
  #connections = 0;
  #lastAside: Promise<unknown> = Promise.resolve();

  constructor(settings: RabbitMqSettings, context: SourceContext<RabbitMqMessage>) {
    this.#settings = settings;
    this.#inbox = new Inbox(context.stop);
  }

  async receive(max: number, waitMs: number): Promise<RabbitMqMessage[]> {
    if (this.#opened === null) await this.#consume();
    try {
      return await this.#inbox.take(max, waitMs);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  acknowledge(messages: RabbitMqMessage[]): Promise<void> {
    for (const { delivery, channel } of messages) {
      const opened = this.#ownerOf(channel);
      if (opened === null) continue;
      channel.ack(delivery);
      opened.unsettled--;
    }
    return Promise.resolve();
  }

  /** One after the other, so that a message that comes back is known. */
  async setAside(message: RabbitMqMessage, reason: string): Promise<boolean> {
    const work = this.#lastAside.then(() => this.#publishAside(message, reason));
    this.#lastAside = work.catch(() => undefined);
    if (!(await work)) return false;
    await this.acknowledge([message]);
    return true;
  }

  /** Deliveries come before the answer, on the same channel: what it no longer counts is among the unsettled. */
  async lag() {
    const opened = this.#opened;
    if (opened === null) return null;
    let messages = 0;
    for (const queue of this.#settings.queues)
      messages += (await opened.channel.checkQueue(queue)).messageCount;
    return { messages: messages + opened.unsettled };
  }

  /** Takes the first message and gives it back with the end of the connection. */
  async check() {
    const { channel, facts } = await this.#open();
    for (const queue of this.#settings.queues) {
      const delivery = await channel.get(queue);
      if (delivery !== false) return { facts, first: toMessage(queue, delivery, channel) };
    }
    return { facts, first: null };
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = null;
    this.#inbox.clear();
    if (opened !== null) await end(opened);
  }

  async #consume(): Promise<void> {
    const { channel } = await this.#open();
    try {
      await channel.prefetch(Math.ceil(this.#settings.prefetch / this.#settings.queues.length));
      for (const queue of this.#settings.queues)
        await channel.consume(queue, (one) => this.#take(queue, one, channel));
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** Null if the channel was lost. */
  #ownerOf(channel: ConfirmChannel): Opened | null {
    const opened = this.#opened;
    return opened?.channel === channel && !opened.isLost ? opened : null;
  }

  #take(queue: string, delivery: ConsumeMessage | null, channel: ConfirmChannel): void {
    const opened = this.#ownerOf(channel);
    if (opened === null) return;
    if (delivery === null) {
      this.#inbox.fail(new Error(`the broker has cancelled the consumer of ${queue}`));
    } else if (delivery.properties.headers?.["x-stream-offset"] !== undefined) {
      this.#inbox.fail(new SourceFault(`${queue} is a stream, which keeps no acknowledgements`));
    } else {
      opened.unsettled++;
      this.#inbox.put(toMessage(queue, delivery, channel));
    }
  }

  /** An exchange confirms what no queue gets. With `mandatory`, it comes back before the confirmation. */
  async #publishAside({ delivery, channel, lane }: RabbitMqMessage, reason: string) {
    if (this.#ownerOf(channel) === null) return false;
    const { aside } = this.#settings;
    const [exchange, key] =
      "queue" in aside ? ["", aside.queue] : [aside.exchange, delivery.fields.routingKey];
    const options = optionsOf(delivery, {
      "partner-api-reason": reason,
      "partner-api-source": lane,
    });
    const returned: Delivery[] = [];
    const noteReturn = (one: Delivery) => returned.push(one);
    channel.on("return", noteReturn);
    try {
      const [confirmed, confirm] = aConfirmation();
      channel.publish(exchange, key, delivery.content, options, confirm);
      await confirmed;
    } finally {
      channel.off("return", noteReturn);
    }
    if (returned.length > 0)
      throw new SourceFault(`no queue gets what is set aside with the key ${key}`);
    return true;
  }

  async #open(): Promise<Opened & { facts: string[] }> {
    const { default: amqp } = await loadClient("amqplib", () => import("amqplib"));
    const { urls, tls, isExternal } = this.#settings;
    const url = new URL(urls[this.#connections++ % urls.length] ?? "");
    if (!url.searchParams.has("heartbeat")) url.searchParams.set("heartbeat", HEARTBEAT_S);
    const connecting = amqp.connect(url.href, {
      ...{ timeout: CONNECT_MS, noDelay: true, keepAlive: true, ...tls },
      ...(isExternal ? { credentials: amqp.credentials.external() } : {}),
      clientProperties: { connection_name: "partner-api bridge" },
    });
    const connection = await connecting.catch((error: unknown) => {
      throw explained(error as Error, url);
    });
    const lose = (error: Error) => this.#lose(connection, error);
    connection.on("error", lose);
    connection.on("close", () => lose(new Error("the connection to the broker has ended")));
    try {
      const facts = await this.#requireQueues(connection);
      const channel = await connection.createConfirmChannel();
      channel.on("error", lose);
      channel.on("close", () => lose(new Error("the broker has closed the channel")));
      this.#inbox.clear();
      this.#opened = { connection, channel, unsettled: 0, isLost: false };
      return { ...this.#opened, facts };
    } catch (error) {
      await end({ connection });
      throw error;
    }
  }

  /** The broker delivers everything again that was delivered and is not acknowledged. */
  #lose(connection: ChannelModel, error: Error): void {
    if (this.#opened?.connection !== connection) return;
    this.#opened.isLost = true;
    this.#inbox.fail(error);
  }

  /** Throws a fault that names everything that is missing. */
  async #requireQueues(connection: ChannelModel): Promise<string[]> {
    const { queues, aside } = this.#settings;
    const missing: string[] = [];
    const facts: string[] = [];
    for (const queue of queues) {
      const found = await asked(connection, (channel) => channel.checkQueue(queue));
      if (found === null) missing.push(`queue ${queue}`);
      else facts.push(`queue ${queue}, ${found.messageCount} messages are ready`);
    }
    const [what, ask] =
      "queue" in aside
        ? [`queue ${aside.queue}`, (channel: Channel) => channel.checkQueue(aside.queue)]
        : [
            `exchange ${aside.exchange}`,
            (channel: Channel) => channel.checkExchange(aside.exchange),
          ];
    if ((await asked<unknown>(connection, ask)) === null) missing.push(what);
    if (missing.length > 0) throw new SourceFault(`there is no ${missing.join(", no ")}`);
    return facts;
  }
}

const NOT_FOUND = 404;

/** Returns null if there is no such thing. To ask for one ends a channel. */
async function asked<Found>(
  connection: ChannelModel,
  ask: (channel: Channel) => Promise<Found>,
): Promise<Found | null> {
  const channel = await connection.createChannel();
  channel.on("error", () => undefined);
  try {
    return await ask(channel);
  } catch (error) {
    if ((error as { code?: unknown }).code !== NOT_FOUND) throw error;
    return null;
  } finally {
    void channel.close().catch(() => undefined);
  }
}

const CLOSE_MS = 2_000;

/**
 * Closes the channel first, because the end of a connection overtakes acknowledgements. The client's promises are never settled if the
 * connection is lost meanwhile.
 */
async function end({ connection, channel }: Pick<Opened, "connection"> & Partial<Opened>) {
  const late = new AbortController();
  const isOver = sleep(CLOSE_MS, null, { signal: late.signal });
  const closing = Promise.resolve(channel?.close())
    .catch(() => undefined)
    .then(() => connection.close());
  await Promise.race([closing, once(connection, "close"), isOver]).catch(() => undefined);
  late.abort();
}

function aConfirmation() {
  const done = new EventEmitter();
  const confirm = (error: Error | null) => done.emit(error === null ? "confirmed" : "error", error);
  return [once(done, "confirmed"), confirm] as const;
}

/** `CC` names further queues, and one of them can be where the message is from. A user must be the connection's own. */
function optionsOf({ properties }: Delivery, added: Record<string, string>): Options.Publish {
  const options: Options.Publish = {
    ...(properties as Options.Publish),
    headers: { ...(properties.headers as object), ...added, CC: undefined },
    ...{ persistent: true, mandatory: true },
  };
  delete options.userId;
  delete options.expiration;
  return options;
}

function toMessage(
  queue: string,
  delivery: ConsumeMessage | GetMessage,
  channel: ConfirmChannel,
): RabbitMqMessage {
  const { content, fields, properties } = delivery;
  const id = properties.messageId as unknown;
  return {
    lane: queue,
    identity: typeof id === "string" && id !== "" ? `${queue}/${id}` : null,
    body: content,
    headers: headersOf(properties),
    from: { queue, key: fields.routingKey },
    delivery,
    channel,
  };
}

/** The properties, such as `content-type` and `message-id`, and the headers, which count if both have a name. */
function headersOf({ headers, ...properties }: MessageProperties): Map<string, string> {
  const named = Object.entries(properties).map(([name, value]): [string, unknown] => [
    name.replace(/[A-Z]/g, (letter) => `-${letter}`),
    value,
  ]);
  const texts = new Map<string, string>();
  for (const [name, value] of [...named, ...Object.entries(headers ?? {})]) {
    const text = headerOf(value);
    if (text !== null) texts.set(name.toLowerCase(), text);
  }
  return texts;
}

/**
 * A value of a type that JavaScript lacks, such as a timestamp, is an object with its name. Null for none, and for an integer that the client
 * has rounded: two ids could have become one.
 */
function headerOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "string") return value;
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return null;
  if (Buffer.isBuffer(value)) return textOf(value);
  if (!isObject(value) || !("!" in value)) return JSON.stringify(value);
  return value["!"] === "decimal" ? decimalOf(value["value"] as Decimal) : String(value["value"]);
}

interface Decimal {
  digits: number;
  places: number;
}

function decimalOf({ digits, places }: Decimal): string {
  const text = String(digits).padStart(places + 1, "0");
  return places === 0 ? text : `${text.slice(0, -places)}.${text.slice(-places)}`;
}

/** The client drops the reason for which the broker closes a connection that is being opened. */
function explained(error: Error, { pathname }: URL): Error {
  if (!error.message.startsWith("Expected ConnectionOpenOk")) return error;
  const host = decodeURIComponent(pathname.slice(1)) || "/";
  return new SourceFault(`the broker refuses the virtual host ${host}`);
}
