import type { Admin, Consumer, EachBatchPayload, KafkaConfig, Producer } from "kafkajs";
import { isObject } from "../lib/objects.ts";
import { Inbox } from "./inbox.ts";
import { Offsets } from "./offsets.ts";
import type { Settings } from "./settings.ts";
import {
  loadClient,
  type Message,
  type Source,
  type SourceContext,
  SourceFault,
} from "./source.ts";

interface KafkaSettings {
  client: KafkaConfig;
  topics: string[];
  group: string;
  begin: "earliest" | "latest";
  /** The topic for what is set aside. */
  aside: string;
}

interface KafkaMessage extends Message {
  topic: string;
  partition: number;
  offset: bigint;
  membership: Membership;
  key: Buffer | null;
  value: Buffer;
}

/** What a consumer knows from one balancing of its group to the next. */
interface Membership {
  offsets: Map<string, Offsets>;
}

interface Clients {
  consumer: Consumer;
  producer: Producer;
  admin: Admin;
}

/** The size of a fetch, which bounds what waits in the client: as objects, small records take several times as much. */
const FETCH = {
  maxBytes: 512 * 1024,
  maxBytesPerPartition: 128 * 1024,
  maxWaitTimeInMs: 250,
};
const HEARTBEAT_MS = 1_000;
/** After this time others get the partitions of a consumer that was killed. */
const SESSION = {
  sessionTimeout: 10_000,
  heartbeatInterval: HEARTBEAT_MS,
  rebalanceTimeout: 20_000,
};

export function kafkaSource(settings: Settings) {
  const aside = settings.below("set_aside");
  const read: KafkaSettings = {
    client: readClient(settings),
    topics: settings.texts("topics"),
    group: settings.text("group"),
    begin: settings.choice("begin", ["earliest", "latest"], "earliest"),
    aside: aside.text("topic"),
  };
  aside.end();
  return {
    defaults: {},
    open: (context: SourceContext): Source => new KafkaSource(read, context as never),
  };
}

function readClient(settings: Settings): KafkaConfig {
  const brokers = settings.texts("brokers");
  const client: KafkaConfig = { clientId: "partner-api-bridge", brokers };
  if (!brokers.every((one) => one === "" || /^[^/]+:[0-9]+$/.test(one)))
    settings.fault("brokers", "must be host:port");
  const tls = settings.tls();
  if (tls !== null) client.ssl = tls;
  if (settings.has("sasl")) {
    const sasl = settings.below("sasl");
    const mechanism = sasl.choice("mechanism", ["plain", "scram-sha-256", "scram-sha-512"]);
    const [username, password] = [sasl.text("username"), sasl.text("password")];
    client.sasl = { mechanism, username, password } as NonNullable<KafkaConfig["sasl"]>;
    sasl.end();
  }
  return client;
}

/**
 * Consumes topics as a member of a group. The client's own commits are off: an offset is committed when everything before it is
 * settled. After each balancing, what was not committed is fetched again by the consumer that has the partition then.
 */
class KafkaSource implements Source<KafkaMessage> {
  readonly #settings: KafkaSettings;
  readonly #context: SourceContext<KafkaMessage>;
  readonly #inbox: Inbox<KafkaMessage>;
  #clients: Clients | null = null;
  #membership: Membership = { offsets: new Map() };

  constructor(settings: KafkaSettings, context: SourceContext<KafkaMessage>) {
    this.#settings = settings;
    this.#context = context;
    this.#inbox = new Inbox(context.stop);
  }

  async receive(max: number, waitMs: number): Promise<KafkaMessage[]> {
    if (this.#clients === null) await this.#open(this.#settings.group);
    try {
      return await this.#inbox.take(max, waitMs);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async acknowledge(messages: KafkaMessage[]): Promise<void> {
    for (const { membership, lane, offset } of messages)
      membership.offsets.get(lane)?.settle(offset);
    await this.#commit();
  }

  async setAside(message: KafkaMessage, reason: string): Promise<void> {
    if (this.#clients === null) throw new Error("the consumer was closed");
    const { lane, offset, key, value } = message;
    const headers = {
      ...Object.fromEntries(message.headers),
      "partner-api-reason": reason,
      "partner-api-source": `${lane}/${offset}`,
    };
    const { aside: topic } = this.#settings;
    await this.#clients.producer.send({ topic, acks: -1, messages: [{ key, value, headers }] });
    await this.acknowledge([message]);
  }

  lag() {
    const lags = [...this.#membership.offsets.values()].map((offsets) => offsets.lag);
    return Promise.resolve({ messages: lags.reduce((sum, lag) => sum + lag, 0) });
  }

  /** Joins a group of its own, so that no partition moves. */
  async check() {
    const group = `${this.#settings.group}-check-${process.pid}`;
    const facts = await this.#open(group);
    const [first = null] = await this.#inbox.take(1, CHECK_MS);
    const admin = this.#clients?.admin;
    await this.#clients?.consumer.disconnect();
    await admin?.deleteGroups([group]).catch(() => undefined);
    return { facts, first };
  }

  /** The client repeats neither a join of the group nor a request for its offsets when the group's coordinator is loading. */
  isStarting(error: unknown): boolean {
    const { cause, type } = error as { cause?: unknown; type?: string };
    return STARTING.has(type ?? "") || (isObject(cause) && this.isStarting(cause));
  }

  async close(): Promise<void> {
    const clients = this.#clients;
    this.#clients = null;
    this.#membership = { offsets: new Map() };
    this.#inbox.clear();
    const closing = Object.values(clients ?? {}) as Clients[keyof Clients][];
    await Promise.allSettled(closing.map((client) => client.disconnect()));
  }

  async #open(groupId: string): Promise<string[]> {
    const { default: kafkajs } = await loadClient("kafkajs", () => import("kafkajs"));
    const { client, topics, begin } = this.#settings;
    const kafka = new kafkajs.Kafka({ ...client, logLevel: kafkajs.logLevel.NOTHING });
    const retry = { retries: 2, restartOnFailure: () => Promise.resolve(false) };
    const consumer = kafka.consumer({
      groupId,
      ...FETCH,
      ...SESSION,
      allowAutoTopicCreation: false,
      retry,
    });
    const producer = kafka.producer({ allowAutoTopicCreation: false });
    const admin = kafka.admin();
    this.#inbox.clear();
    this.#clients = { admin, consumer, producer };
    try {
      await Promise.all([admin.connect(), producer.connect(), consumer.connect()]);
      const facts = await this.#requireTopics(admin);
      await this.#requireOffsets(admin, groupId);
      consumer.on("consumer.crash", ({ payload }) => this.#inbox.fail(payload.error));
      consumer.on("consumer.group_join", () => this.#join());
      await consumer.subscribe({ topics, fromBeginning: begin === "earliest" });
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: 8,
        eachBatch: (payload) => this.#take(payload, this.#membership),
      });
      return facts;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** The client begins at the committed offsets again, so nothing of before counts. */
  #join(): void {
    this.#membership = { offsets: new Map() };
    this.#inbox.clear();
    this.#context.forget(() => true);
  }

  async #take(payload: EachBatchPayload, membership: Membership): Promise<void> {
    const { batch } = payload;
    const { topic, partition, messages } = batch;
    const lane = `${topic}/${partition}`;
    const offsets = membership.offsets.get(lane) ?? new Offsets(topic, partition);
    membership.offsets.set(lane, offsets);
    const isOver = () =>
      !payload.isRunning() || payload.isStale() || membership !== this.#membership;
    for (const { offset, key, value, headers } of messages) {
      while (this.#inbox.isFull && !isOver()) {
        await this.#inbox.room(HEARTBEAT_MS);
        await payload.heartbeat();
      }
      if (isOver()) return;
      const at = BigInt(offset);
      offsets.receive(at, BigInt(batch.highWatermark));
      // A tombstone says that a key is gone. It is no event.
      if (value === null) offsets.settle(at);
      else {
        const from = { topic, ...(key === null ? {} : { key: key.toString() }) };
        const seen = { lane, identity: `${lane}/${offset}`, headers: textsOf(headers), from };
        const own = { topic, partition, offset: at, membership, key, value };
        this.#inbox.put({ ...seen, ...own, body: value });
      }
      payload.resolveOffset(offset);
    }
    await this.#commit();
    await payload.heartbeat();
  }

  /** Commits what is settled. A commit that fails because the group is balanced again is of no use any more. */
  async #commit(): Promise<void> {
    const [membership, clients] = [this.#membership, this.#clients];
    const moved = [...membership.offsets.values()].filter((offsets) => offsets.isAhead);
    const commits = moved.map((offsets) => ({ offsets, next: offsets.next }));
    if (commits.length === 0 || clients === null) return;
    try {
      await clients.consumer.commitOffsets(
        commits.map(({ offsets: { topic, partition }, next: offset }) => ({
          ...{ topic, partition, offset: String(offset) },
        })),
      );
    } catch (error) {
      if (membership !== this.#membership) return;
      throw error;
    }
    for (const { offsets, next } of commits) offsets.commit(next);
  }

  /** Throws a fault that names every topic that is missing. */
  async #requireTopics(admin: Admin): Promise<string[]> {
    const { topics, group, aside } = this.#settings;
    const known = new Set(await admin.listTopics());
    const missing = [...topics, aside].filter((topic) => !known.has(topic));
    if (missing.length > 0) throw new SourceFault(`there is no topic ${missing.join(", ")}`);
    const found = await admin.fetchTopicMetadata({ topics });
    return found.topics.map(
      ({ name, partitions }) => `topic ${name} of ${partitions.length} partitions, group ${group}`,
    );
  }

  /** The client would go on at the beginning or the end without a word, and so repeat or skip. */
  async #requireOffsets(admin: Admin, groupId: string): Promise<void> {
    const { topics } = this.#settings;
    for (const { topic, partitions } of await admin.fetchOffsets({ groupId, topics })) {
      const ends = await admin.fetchTopicOffsets(topic);
      for (const { partition, offset } of partitions) {
        const { low = "0", high = "0" } = ends.find((one) => one.partition === partition) ?? {};
        const [at, first, last] = [offset, low, high].map(BigInt) as [bigint, bigint, bigint];
        if (at < 0n || (at >= first && at <= last)) continue;
        throw new SourceFault(
          `the group ${groupId} is at offset ${offset} of ${topic}/${partition}, which holds ${low} to ${high}: ` +
            "set the group's offset with kafka-consumer-groups",
        );
      }
    }
  }
}

const CHECK_MS = 10_000;
/** A coordinator reads its part of the topic `__consumer_offsets` first, and a partition elects its leader. */
const STARTING: ReadonlySet<string> = new Set([
  "GROUP_LOAD_IN_PROGRESS",
  "GROUP_COORDINATOR_NOT_AVAILABLE",
  "NOT_COORDINATOR_FOR_GROUP",
  "LEADER_NOT_AVAILABLE",
  "NOT_LEADER_FOR_PARTITION",
]);

/** Of a name that is repeated, the last value counts. */
function textsOf(headers: EachBatchPayload["batch"]["messages"][number]["headers"] = {}) {
  const texts = new Map<string, string>();
  for (const [name, values] of Object.entries(headers)) {
    const value = Array.isArray(values) ? values.at(-1) : values;
    if (value !== undefined) texts.set(name.toLowerCase(), value.toString());
  }
  return texts;
}
