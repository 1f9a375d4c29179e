import type {
  Admin,
  CompressionTypes,
  Consumer,
  EachBatchPayload,
  IMemberAssignment,
  KafkaConfig,
  KafkaMessage as Delivery,
  LogEntry,
  Producer,
  TopicPartitionOffset,
} from "kafkajs";
import { isObject } from "../lib/objects.ts";
import { textOf } from "./document.ts";
import { Inbox } from "./inbox.ts";
import { readCompressed } from "./kafka-codecs.ts";
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
  delivery: Delivery;
}

/** What a consumer knows from one balancing of its group to the next. */
interface Membership {
  assigned: IMemberAssignment;
  offsets: Map<string, Offsets>;
}

/** Where a partition begins that is read for the first time. */
interface Beginning extends TopicPartitionOffset {
  /** True if the group knows no offset of its topic. */
  isNew: boolean;
}

interface Clients {
  consumer: Consumer;
  producer: Producer;
  admin: Admin;
  /** As the client calls it. */
  gzip: CompressionTypes;
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
  #membership: Membership = { assigned: {}, offsets: new Map() };

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

  async setAside(message: KafkaMessage, reason: string): Promise<boolean> {
    if (this.#clients === null || message.membership !== this.#membership) return false;
    const { lane, offset, delivery } = message;
    const { key, value } = delivery;
    const { producer, gzip } = this.#clients;
    const headers = {
      ...withValues(delivery.headers),
      "partner-api-reason": reason,
      "partner-api-source": `${lane}/${offset}`,
    };
    const { aside: topic } = this.#settings;
    // A record that was compressed can be larger than a topic allows without.
    await producer.send({
      ...{ topic, acks: -1, compression: gzip, messages: [{ key, value, headers }] },
    });
    await this.acknowledge([message]);
    return true;
  }

  /** Of the partitions that this bridge reads. What waits is counted while nothing is fetched, too. */
  async lag() {
    if (this.#clients === null) return null;
    const { admin } = this.#clients;
    const { assigned } = this.#membership;
    let messages = 0;
    for (const { topic, partitions } of await this.#committed(admin)) {
      const own = partitions.filter(({ partition }) => assigned[topic]?.includes(partition));
      for (const { offset, low, high } of own) messages += Number(high - maxOf(offset, low));
    }
    return { messages };
  }

  /** Joins a group of its own, so that no partition moves, and reads where the bridge would go on. */
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
    this.#membership = { assigned: {}, offsets: new Map() };
    this.#inbox.clear();
    if (clients === null) return;
    const closing = [clients.consumer, clients.producer, clients.admin];
    await Promise.allSettled(closing.map((client) => client.disconnect()));
  }

  async #open(groupId: string): Promise<string[]> {
    const { default: kafkajs } = await loadClient("kafkajs", () => import("kafkajs"));
    const { client, topics, group } = this.#settings;
    readCompressed(kafkajs);
    const kafka = new kafkajs.Kafka({
      ...{ ...client, logLevel: kafkajs.logLevel.ERROR, logCreator: () => refuseReset },
    });
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
    this.#clients = { admin, consumer, producer, gzip: kafkajs.CompressionTypes.GZIP };
    try {
      await Promise.all([admin.connect(), producer.connect(), consumer.connect()]);
      const facts = await this.#requireTopics(admin);
      const beginnings = (await this.#requireOffsets(admin)).filter(
        ({ isNew }) => isNew || groupId !== group,
      );
      consumer.on("consumer.crash", ({ payload }) => {
        this.#begin({});
        this.#inbox.fail(payload.error);
      });
      consumer.on("consumer.group_join", ({ payload }) =>
        this.#join(consumer, payload.memberAssignment, beginnings),
      );
      await consumer.subscribe({ topics, fromBeginning: true });
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: 8,
        eachBatch: (payload) => this.#take(payload, this.#membership),
      });
      if (groupId === group && beginnings.length > 0) {
        await consumer.commitOffsets(this.#own(beginnings));
        beginnings.length = 0;
      }
      return facts;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  #join(consumer: Consumer, assigned: IMemberAssignment, beginnings: Beginning[]): void {
    this.#begin(assigned);
    for (const one of this.#own(beginnings)) consumer.seek(one);
  }

  /** What was not committed is read again, by this bridge or by another one. So nothing of before counts. */
  #begin(assigned: IMemberAssignment): void {
    this.#membership = { assigned, offsets: new Map() };
    this.#inbox.clear();
    this.#context.forget(() => true);
  }

  #own(beginnings: readonly Beginning[]): Beginning[] {
    const { assigned } = this.#membership;
    return beginnings.filter(({ topic, partition }) => assigned[topic]?.includes(partition));
  }

  async #take(payload: EachBatchPayload, membership: Membership): Promise<void> {
    const { batch } = payload;
    const { topic, partition, messages } = batch;
    const lane = `${topic}/${partition}`;
    const offsets = membership.offsets.get(lane) ?? new Offsets(topic, partition);
    membership.offsets.set(lane, offsets);
    const isOver = () =>
      !payload.isRunning() || payload.isStale() || membership !== this.#membership;
    for (const delivery of messages) {
      const { offset, key, value, headers } = delivery;
      while (this.#inbox.isFull && !isOver()) {
        await this.#inbox.room(HEARTBEAT_MS);
        await payload.heartbeat();
      }
      if (isOver()) return;
      const at = BigInt(offset);
      offsets.receive(at);
      // A tombstone says that a key is gone. It is no event.
      if (value === null) offsets.settle(at);
      else {
        const from = { topic, ...(key === null ? {} : { key: textOf(key) }) };
        const seen = { lane, identity: `${lane}/${offset}`, headers: textsOf(headers), from };
        const own = { topic, partition, offset: at, membership, delivery };
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

  /**
   * The client would go on at the beginning or the end without a word, and so repeat or skip. A partition of which nothing was read is read
   * from its beginning, unless the whole topic is new to the group and shall be read from its end.
   */
  async #requireOffsets(admin: Admin): Promise<Beginning[]> {
    const { group, begin } = this.#settings;
    const beginnings: Beginning[] = [];
    for (const { topic, partitions } of await this.#committed(admin)) {
      const isNew = begin === "latest" && partitions.every(({ offset }) => offset < 0n);
      for (const { partition, offset, low, high } of partitions) {
        const at = offset >= 0n ? offset : isNew ? high : low;
        beginnings.push({ topic, partition, offset: String(at), isNew });
        if (at >= low && at <= high) continue;
        throw new SourceFault(
          `the group ${group} is at offset ${offset} of ${topic}/${partition}, which holds ${low} to ${high}: ` +
            "set the group's offset with kafka-consumer-groups",
        );
      }
    }
    return beginnings;
  }

  /** Returns the group's offset of each partition, -1 if there is none, and what the partition holds. */
  async #committed(admin: Admin) {
    const { topics, group: groupId } = this.#settings;
    const committed = await admin.fetchOffsets({ groupId, topics });
    return Promise.all(
      committed.map(async ({ topic, partitions }) => {
        const held = await admin.fetchTopicOffsets(topic);
        return {
          topic,
          partitions: partitions.map(({ partition, offset }) => {
            const { low = "0", high = "0" } = held.find((one) => one.partition === partition) ?? {};
            return { partition, offset: BigInt(offset), low: BigInt(low), high: BigInt(high) };
          }),
        };
      }),
    );
  }
}

/**
 * The client goes on elsewhere if the log has lost the offset that it asks for, and tells only its log. What is thrown there ends the consumer
 * instead, and the group's offset stays.
 */
function refuseReset({ log: { message, ...where } }: LogEntry): void {
  if (!message.startsWith("Offset out of range, resetting")) return;
  const { topic, partition } = where as Partial<TopicPartitionOffset>;
  const fault = new SourceFault(
    `records of ${topic}/${partition} were removed before they were read`,
  );
  throw Object.assign(fault, { retriable: false });
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

function maxOf(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

/** The client can read a header without a value, but not write one. Its types leave it out. */
function withValues(headers: Delivery["headers"] = {}): Record<string, (string | Buffer)[]> {
  const entries = Object.entries(headers).map(([name, values]) => {
    const given = [values].flat() as (string | Buffer | null | undefined)[];
    return [name, given.filter((value) => value !== null && value !== undefined)] as const;
  });
  return Object.fromEntries(entries);
}

/** Of a name that is repeated, the last value counts. */
function textsOf(headers: EachBatchPayload["batch"]["messages"][number]["headers"] = {}) {
  const texts = new Map<string, string>();
  for (const [name, values] of Object.entries(withValues(headers))) {
    const value = values.at(-1);
    if (value !== undefined) texts.set(name.toLowerCase(), textOf(Buffer.from(value)));
  }
  return texts;
}
