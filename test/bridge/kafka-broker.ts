import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { Kafka, logLevel } from "kafkajs";
import type { Afterwards } from "../ledger/afterwards.ts";
import { freePort, openPort } from "../support/free-port.ts";
import { ROOT } from "../support/root.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";
import { endTogether, startServer } from "./broker-server.ts";
import type { TlsFiles } from "./connections.ts";
import type { Broker } from "./ledger.ts";
import { insist } from "./outbox-ledger.ts";

/** Where `mvn -f brokers dependency:copy-dependencies -DoutputDirectory=lib` puts Kafka. */
export const KAFKA = process.env["KAFKA_LIB"] ?? join(ROOT, "brokers/lib");

export function hasKafka(): boolean {
  return existsSync(KAFKA);
}

/**
 * One node, broker and controller at once. With `secure`, it also listens for a user over TLS. With `advertised`, clients go on to that
 * port.
 */
export async function startKafka(
  t: Pick<Afterwards, "after">,
  secure?: Secure,
  advertised?: number,
) {
  const folder = await aTemporaryFolder(t);
  const [port, controller, secured] = [await freePort(), await freePort(), await freePort()];
  const file = join(folder, "server.properties");
  const plain = propertiesOf(folder, { port, controller, advertised: advertised ?? port });
  const properties = secure ? await securedBy(secure, folder, { plain, secured }) : plain;
  const lines = Object.entries(properties).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(file, lines.join(""));
  const users = secure
    ? ["--add-scram", `SCRAM-SHA-512=[name=bridge,password=${secure.password}]`]
    : [];
  const format = ["format", "-t", CLUSTER, "-c", file, ...users];
  await promisify(execFile)("java", argumentsOf("kafka.tools.StorageTool", format));
  const { kill } = await startServer(t, port, ["java", ...argumentsOf("kafka.Kafka", [file])]);
  return { port, brokers: [`127.0.0.1:${port}`], secured: [`localhost:${secured}`], kill };
}

const JOIN_GROUP = 11;
const LOAD_IN_PROGRESS = 14;

/** Stands before a broker, and answers so many joins of a group as a coordinator does that is loading. */
export async function aLoadingCoordinator(t: Pick<Afterwards, "after">) {
  const state = { joins: 0, brokerPort: 0 };
  const server = createServer((client) => {
    const broker = connect(state.brokerPort, "127.0.0.1");
    let received = Buffer.alloc(0);
    client.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      for (let end = endOf(received); end <= received.length; end = endOf(received)) {
        const request = received.subarray(0, end);
        received = received.subarray(end);
        const isRefused = request.readInt16BE(4) === JOIN_GROUP && state.joins-- > 0;
        if (isRefused) client.write(loadingFor(request));
        else broker.write(request);
      }
    });
    broker.pipe(client);
    endTogether(t, client, broker);
  });
  return { state, port: await openPort(t, server) };
}

/** Each request begins with its length. */
function endOf(received: Buffer): number {
  return received.length < 4 ? Infinity : 4 + received.readInt32BE(0);
}

/** Of version 5, without a member. */
function loadingFor(request: Buffer): Buffer {
  const answer = Buffer.alloc(28);
  answer.writeInt32BE(24, 0);
  request.copy(answer, 4, 8, 12);
  answer.writeInt16BE(LOAD_IN_PROGRESS, 12);
  answer.writeInt32BE(-1, 14);
  return answer;
}

/** Writes lines of headers, key and value to the topic `orders`, as Kafka's own client does. `NULL` stands for no value. */
export async function consoleProduce(
  brokers: readonly string[],
  lines: string,
  codec = "none",
): Promise<void> {
  const properties = ["parse.headers=true", "parse.key=true", "null.marker=NULL"];
  const args = [
    ...["--bootstrap-server", brokers.join(), "--topic", "orders", "--compression-codec", codec],
    ...properties.flatMap((one) => ["--reader-property", one]),
  ];
  const ran = promisify(execFile)(
    "java",
    argumentsOf("org.apache.kafka.tools.ConsoleProducer", args),
  );
  ran.child.stdin?.end(lines);
  await ran;
}

interface Secure {
  files: TlsFiles;
  /** Of the user `bridge`, for SCRAM-SHA-512 and PLAIN. */
  password: string;
}

const CLUSTER = "MkU3OEVBNTcwNTJENDM2Qg";

function argumentsOf(main: string, args: string[]): string[] {
  const options = ["-Xmx320m", "-Xms64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];
  return [...options, "-cp", `${KAFKA}/*`, main, ...args];
}

function propertiesOf(
  folder: string,
  { port, controller, advertised }: { port: number; controller: number; advertised: number },
) {
  return {
    "process.roles": "broker,controller",
    "node.id": 1,
    "controller.quorum.voters": `1@127.0.0.1:${controller}`,
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controller}`,
    "advertised.listeners": `PLAINTEXT://127.0.0.1:${advertised}`,
    "controller.listener.names": "CONTROLLER",
    "log.dirs": join(folder, "log"),
    "offsets.topic.replication.factor": 1,
    "offsets.topic.num.partitions": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "group.initial.rebalance.delay.ms": 0,
    "auto.create.topics.enable": false,
  };
}

/** A further listener, and its two mechanisms. Kafka reads the key and the certificate from one PEM file. */
async function securedBy(
  { files, password }: Secure,
  folder: string,
  { plain, secured }: { plain: ReturnType<typeof propertiesOf>; secured: number },
) {
  const store = join(folder, "store.pem");
  await writeFile(store, await readFile(files.key, "utf8"));
  await appendFile(store, await readFile(files.cert, "utf8"));
  const module = "org.apache.kafka.common.security";
  const user = `username="bridge" password="${password}" user_bridge="${password}"`;
  const place = `SASL_SSL://localhost:${secured}`;
  return {
    ...plain,
    listeners: `${plain.listeners},${place}`,
    "advertised.listeners": `${plain["advertised.listeners"]},${place}`,
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_SSL:SASL_SSL",
    "ssl.keystore.type": "PEM",
    "ssl.keystore.location": store,
    "sasl.enabled.mechanisms": "SCRAM-SHA-512,PLAIN",
    "listener.name.sasl_ssl.plain.sasl.jaas.config": `${module}.plain.PlainLoginModule required ${user};`,
    "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config": `${module}.scram.ScramLoginModule required;`,
  };
}

/** A topic of four partitions and one for what is set aside. */
export async function aKafkaBroker(t: Afterwards): Promise<Broker> {
  const { brokers, kill } = await startKafka(t);
  const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING, retry: { retries: 20 } });
  const admin = kafka.admin();
  await insist(() => admin.connect());
  t.after(() => admin.disconnect());
  await insist(() =>
    admin.createTopics({
      topics: [{ topic: "orders", numPartitions: 4 }, { topic: "orders.aside" }],
    }),
  );
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1 });
  await producer.connect();
  t.after(() => producer.disconnect());
  const aside: number[] = [];
  const reader = kafka.consumer({ groupId: "aside" });
  t.after(() => reader.disconnect());
  await reader.subscribe({ topics: ["orders.aside"], fromBeginning: true });
  await reader.run({
    eachMessage: ({ message }) => {
      const { n } = JSON.parse(message.value?.toString() ?? "{}") as { n: number };
      if (!aside.includes(n)) aside.push(n);
      return Promise.resolve();
    },
  });
  return {
    source: {
      ...{ kind: "kafka", brokers, topics: ["orders"], group: "bridge" },
      event: { organization: "acme", type: "order.created", data: { pointer: "" } },
      set_aside: { topic: "orders.aside" },
    },
    write: async (numbers) => {
      const messages = numbers.map((n) => ({ key: `k${n % 10}`, value: JSON.stringify({ n }) }));
      await insist(() => producer.send({ topic: "orders", messages }));
    },
    kill,
    setAside: () => Promise.resolve(aside),
  };
}
