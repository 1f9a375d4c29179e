import { setTimeout as sleep } from "node:timers/promises";
import type {
  MessageAttributeValue,
  Message as Delivery,
  SQS,
  SQSClientConfig,
} from "@aws-sdk/client-sqs";
import { textOf } from "./document.ts";
import { Inbox } from "./inbox.ts";
import type { Settings } from "./settings.ts";
import {
  loadClient,
  type Message,
  type Source,
  type SourceContext,
  SourceFault,
} from "./source.ts";

interface SqsSettings {
  client: SQSClientConfig;
  /** The URL of the queue. */
  queue: string;
  visibilitySeconds: number;
  /** The URL of the queue for what is set aside. */
  aside: string;
}

interface SqsMessage extends Message {
  delivery: Delivery;
  /** What identifies this reception of the message. */
  receipt: string;
}

interface Opened {
  client: SQS;
  /** Keeps what is held from being received again. */
  timer: NodeJS.Timeout;
}

/** A request cannot have more entries. */
const BATCH = 10;
/** One request waits for the first message. While there are more than it can have, several ask at once. */
const IDLE = { requests: 1, WaitTimeSeconds: 20 };
const BUSY = { requests: 5, WaitTimeSeconds: 0 };
const REQUEST_MS = 30_000;
const CONNECT_MS = 10_000;
const HELD_MAX = 1_000;
const FULL_MS = 100;
const FAILED_MS = 1_000;

export function sqsSource(settings: Settings) {
  const aside = settings.below("set_aside");
  const visibility = { minMs: 3_000, maxMs: 43_200_000, fallbackMs: 30_000 };
  const read: SqsSettings = {
    client: readClient(settings),
    queue: queueUrl(settings, "queue"),
    visibilitySeconds: Math.ceil(settings.duration("visibility_timeout", visibility) / 1_000),
    aside: queueUrl(aside, "queue"),
  };
  aside.end();
  return {
    defaults: {},
    open: (context: SourceContext): Source => new SqsSource(read, context as never),
  };
}

function queueUrl(settings: Settings, name: string): string {
  const url = settings.text(name);
  settings.requireUrls(name, [url], ["http://", "https://"]);
  if (/^https?:\/\/[^/]+\/?$/.test(url)) settings.fault(name, "must be the URL of a queue");
  return url;
}

/** Without credentials, those of the environment, of the container or of the machine are used. */
function readClient(settings: Settings): SQSClientConfig {
  const [region, endpoint] = [settings.optionalText("region"), settings.optionalText("endpoint")];
  const client: SQSClientConfig = {
    ...(region === null ? {} : { region }),
    ...(endpoint === null ? {} : { endpoint }),
    requestHandler: {
      ...{ connectionTimeout: CONNECT_MS, requestTimeout: REQUEST_MS },
      throwOnRequestTimeout: true, // Else the client only writes a warning.
    },
  };
  if (settings.has("credentials")) {
    const given = settings.below("credentials");
    client.credentials = {
      accessKeyId: given.text("access_key_id"),
      secretAccessKey: given.text("secret_access_key"),
    };
    given.end();
  }
  return client;
}

/**
 * Receives from a queue. What is held stays invisible to others, for as long as this process runs: each reception counts, and after so many
 * of them SQS moves a message to the dead-letter queue.
 */
class SqsSource implements Source<SqsMessage> {
  readonly #settings: SqsSettings;
  readonly #context: SourceContext<SqsMessage>;
  readonly #inbox: Inbox<SqsMessage>;
  #opened: Opened | null = null;
  /** The receipts of messages that were received and are not settled. */
  readonly #held = new Set<string>();

  constructor(settings: SqsSettings, context: SourceContext<SqsMessage>) {
    this.#settings = settings;
    this.#context = context;
    this.#inbox = new Inbox(context.stop);
  }

  async receive(max: number, waitMs: number): Promise<SqsMessage[]> {
    if (this.#opened === null) void this.#receiveAll((this.#opened = await this.#open()));
    try {
      return await this.#inbox.take(max, waitMs);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async acknowledge(messages: SqsMessage[]): Promise<void> {
    const receipts = messages.map(({ receipt }) => receipt);
    await this.#ofHeld(receipts, (client, QueueUrl, batch) =>
      client.deleteMessageBatch({ QueueUrl, Entries: batch }),
    );
    for (const receipt of receipts) this.#held.delete(receipt);
  }

  async setAside(message: SqsMessage, reason: string): Promise<boolean> {
    if (this.#opened === null || !this.#held.has(message.receipt)) return false;
    await sendAside(this.#opened.client, this.#settings.aside, message, reason);
    await this.acknowledge([message]);
    return true;
  }

  async lag() {
    if (this.#opened === null) return null;
    const { waiting, held } = await stateOf(this.#opened.client, this.#settings.queue);
    return { messages: waiting + held };
  }

  /** Receives the first message and makes it visible again, which counts as a reception. */
  async check() {
    const { queue, aside } = this.#settings;
    const client = await this.#connect();
    try {
      const { waiting, receptions } = await stateOf(client, queue);
      await stateOf(client, aside);
      const facts = [`queue ${nameOf(queue)}, ${waiting} messages wait`];
      if (receptions !== null)
        facts.push(`after ${receptions} receptions SQS moves a message to the dead-letter queue`);
      const [first] = await receiveFrom(client, { QueueUrl: queue, VisibilityTimeout: 0 });
      return { facts, first: first ? toMessage(queue, first) : null };
    } finally {
      client.destroy();
    }
  }

  /** Makes visible what is held, so that it is received again at once. */
  async close(): Promise<void> {
    const opened = this.#opened;
    if (opened === null) return;
    clearInterval(opened.timer);
    await this.#extend(0).catch(() => undefined);
    this.#opened = null;
    this.#held.clear();
    this.#inbox.clear();
    opened.client.destroy();
  }

  async #open(): Promise<Opened> {
    const { queue, aside, visibilitySeconds } = this.#settings;
    const client = await this.#connect();
    this.#inbox.clear();
    try {
      await Promise.all([queue, aside].map((url) => stateOf(client, url)));
    } catch (error) {
      client.destroy();
      throw error;
    }
    const extend = () => void this.#extend(visibilitySeconds).catch(() => undefined);
    return { client, timer: setInterval(extend, (visibilitySeconds * 1_000) / 3) };
  }

  async #connect(): Promise<SQS> {
    const sqs = await loadClient("@aws-sdk/client-sqs", () => import("@aws-sdk/client-sqs"));
    return new sqs.SQS(this.#settings.client);
  }

  /** To fail would give back what is held, and each of these messages would count as received once more. */
  async #receiveAll(opened: Opened): Promise<void> {
    const { stop, log } = this.#context;
    const isOver = () => this.#opened !== opened || stop.aborted;
    let way = IDLE;
    while (!isOver()) {
      try {
        way = await this.#receiveOnce(opened.client, way);
      } catch (error) {
        if (isOver()) return;
        if (this.#held.size === 0) {
          this.#inbox.fail(error as Error);
          return;
        }
        log.warn({ why: (error as Error).message }, "nothing is received, what is held stays");
        await sleep(FAILED_MS, null, { signal: stop }).catch(() => undefined);
      }
    }
  }

  /** Returns how to ask for the next messages. */
  async #receiveOnce(client: SQS, way: typeof IDLE): Promise<typeof IDLE> {
    const { queue: QueueUrl, visibilitySeconds: VisibilityTimeout } = this.#settings;
    const { stop: abortSignal } = this.#context;
    if (this.#inbox.isFull || this.#held.size >= HELD_MAX) {
      await sleep(FULL_MS, null, { signal: abortSignal });
      return way;
    }
    const { requests, WaitTimeSeconds } = way;
    const asked = { QueueUrl, VisibilityTimeout, WaitTimeSeconds };
    const answers = await Promise.allSettled(
      Array.from({ length: requests }, () => receiveFrom(client, asked, abortSignal)),
    );
    // What one has received would be lost to all for a while, if another one's failure came first.
    const found = answers.map((answer) => (answer.status === "fulfilled" ? answer.value : []));
    for (const delivery of found.flat()) this.#take(toMessage(QueueUrl, delivery));
    const failed = answers.find((answer) => answer.status === "rejected");
    if (failed) throw failed.reason;
    return found.some(({ length }) => length === BATCH) ? BUSY : IDLE;
  }

  #take(message: SqsMessage): void {
    this.#held.add(message.receipt);
    this.#inbox.put(message);
  }

  /** Keeps what is held invisible for so long. Forgets what others may have received meanwhile. */
  async #extend(VisibilityTimeout: number): Promise<void> {
    const lost = await this.#ofHeld([...this.#held], (client, QueueUrl, batch) => {
      const Entries = batch.map((entry) => ({ ...entry, VisibilityTimeout }));
      return client.changeMessageVisibilityBatch({ QueueUrl, Entries });
    });
    for (const receipt of lost) this.#held.delete(receipt);
    if (lost.size > 0) this.#context.forget(({ receipt }) => lost.has(receipt));
  }

  /** Does the same with all receipts, ten at once. Returns those that are no longer valid. Their messages come again. */
  async #ofHeld(receipts: readonly string[], work: Batched): Promise<Set<string>> {
    const lost = new Set<string>();
    const client = this.#opened?.client;
    if (client === undefined) return lost;
    const batches = Array.from({ length: Math.ceil(receipts.length / BATCH) }, (_, i) =>
      receipts.slice(i * BATCH, (i + 1) * BATCH),
    );
    const answers = await Promise.all(
      batches.map(async (batch) => {
        const entries = batch.map((ReceiptHandle, i) => ({ Id: String(i), ReceiptHandle }));
        const { Failed = [] } = await work(client, this.#settings.queue, entries);
        return Failed.map(({ Id, ...failure }) => ({
          ...failure,
          receipt: batch[Number(Id)] ?? "",
        }));
      }),
    );
    for (const { SenderFault, Code, receipt } of answers.flat()) {
      if (!SenderFault) throw new Error(`SQS has refused a message: ${Code ?? ""}`);
      lost.add(receipt);
    }
    return lost;
  }
}

type Batched = (
  client: SQS,
  queue: string,
  entries: { Id: string; ReceiptHandle: string }[],
) => Promise<{ Failed?: Failure[] | undefined }>;

interface Failure {
  Id: string | undefined;
  SenderFault: boolean | undefined;
  Code: string | undefined;
}

async function receiveFrom(
  client: SQS,
  asked: { QueueUrl: string; VisibilityTimeout: number; WaitTimeSeconds?: number },
  abortSignal?: AbortSignal,
): Promise<Delivery[]> {
  const { Messages = [] } = await client.receiveMessage(
    {
      ...asked,
      MaxNumberOfMessages: asked.VisibilityTimeout === 0 ? 1 : BATCH,
      MessageAttributeNames: ["All"],
      MessageSystemAttributeNames: ["All"],
    },
    abortSignal ? { abortSignal } : {},
  );
  return Messages;
}

/** Throws a fault if there is no such queue. */
async function stateOf(client: SQS, QueueUrl: string) {
  const asked = client.getQueueAttributes({ QueueUrl, AttributeNames: ["All"] });
  const { Attributes: state = {} } = await asked.catch((error: unknown) => {
    const isMissing = /QueueDoesNotExist|NonExistentQueue/.test((error as Error).name);
    throw isMissing ? new SourceFault(`there is no queue ${nameOf(QueueUrl)}`) : error;
  });
  const redrive = JSON.parse(state.RedrivePolicy ?? "{}") as { maxReceiveCount?: number };
  return {
    waiting: Number(state.ApproximateNumberOfMessages),
    held: Number(state.ApproximateNumberOfMessagesNotVisible),
    receptions: redrive.maxReceiveCount ?? null,
  };
}

/** A message without room for further attributes is kept as it was, and its reason is in the log alone. */
async function sendAside(
  client: SQS,
  QueueUrl: string,
  { delivery, lane, identity }: SqsMessage,
  reason: string,
): Promise<void> {
  const { Body: MessageBody, MessageAttributes: kept, MessageId } = delivery;
  const text = (StringValue: string) => ({ DataType: "String", StringValue });
  const added = { "partner-api-reason": text(reason), "partner-api-source": text(identity ?? "") };
  const ordered = QueueUrl.endsWith(".fifo")
    ? { MessageGroupId: lane.slice(0, 128), MessageDeduplicationId: MessageId }
    : {};
  const send = (attributes: Record<string, MessageAttributeValue> | undefined) =>
    client.sendMessage({ QueueUrl, MessageBody, MessageAttributes: attributes, ...ordered });
  await send({ ...kept, ...added }).catch(async (error: unknown) => {
    const { $fault, name } = error as { $fault?: string; name: string };
    if ($fault !== "client" || /throttl/i.test(name)) throw error;
    await send(kept);
  });
}

function nameOf(queue: string): string {
  return queue.slice(queue.lastIndexOf("/") + 1);
}

/** A message of a queue without groups has no order. */
function toMessage(queue: string, delivery: Delivery): SqsMessage {
  const { MessageId: id = "", Body = "", Attributes: system = {}, MessageAttributes } = delivery;
  const headers = new Map<string, string>();
  for (const [name, value] of Object.entries(system)) headers.set(name.toLowerCase(), value);
  for (const [name, { StringValue, BinaryValue }] of Object.entries(MessageAttributes ?? {}))
    headers.set(name.toLowerCase(), StringValue ?? textOf(BinaryValue ?? new Uint8Array()));
  const group = system.MessageGroupId;
  return {
    lane: group ?? id,
    identity: `${nameOf(queue)}/${id}`,
    body: Body,
    headers,
    from: { queue: nameOf(queue), ...(group === undefined ? {} : { key: group }) },
    delivery,
    receipt: delivery.ReceiptHandle ?? "",
  };
}
