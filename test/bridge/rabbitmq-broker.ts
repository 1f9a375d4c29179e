import { type ConfirmChannel, connect } from "amqplib";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Afterwards } from "../ledger/afterwards.ts";
import { freePort } from "../support/free-port.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";
import { startServer } from "./broker-server.ts";
import type { TlsFiles } from "./connections.ts";
import type { Broker } from "./ledger.ts";
import { insist } from "./outbox-ledger.ts";

/** Debian's start script changes the user. This one does not. */
export const RABBITMQ = "/usr/lib/rabbitmq/bin/rabbitmq-server";

/** One node, with a port mapper of its own. */
export async function startRabbitMq(t: Pick<Afterwards, "after">, tls?: TlsFiles) {
  const folder = await aTemporaryFolder(t);
  const [port, distribution, mapper] = [await freePort(), await freePort(), await freePort()];
  const securePort = await freePort();
  if (tls) await writeFile(join(folder, "secured.conf"), securedBy(tls, securePort));
  await mkdir(join(folder, "home"));
  const local = "-kernel inet_dist_use_interface {127,0,0,1}";
  const env = {
    HOME: join(folder, "home"),
    ERL_EPMD_PORT: String(mapper),
    ERL_EPMD_ADDRESS: "127.0.0.1",
    RABBITMQ_NODENAME: `bridge-${port}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: "127.0.0.1",
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(distribution),
    RABBITMQ_MNESIA_BASE: join(folder, "data"),
    RABBITMQ_LOG_BASE: join(folder, "log"),
    RABBITMQ_CONFIG_FILE: join(folder, tls ? "secured.conf" : "none"),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, "plugins"),
    RABBITMQ_CONF_ENV_FILE: join(folder, "none"),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: local,
  };
  await startServer(t, mapper, ["epmd"], env);
  const { kill } = await startServer(t, port, [RABBITMQ], env);
  return { url: `amqp://guest:guest@127.0.0.1:${port}`, kill, securePort };
}

function securedBy({ ca, cert, key }: TlsFiles, port: number): string {
  const files = { cacertfile: ca, certfile: cert, keyfile: key };
  const lines = Object.entries(files).map(([name, path]) => `ssl_options.${name} = ${path}\n`);
  return `listeners.ssl.default = 127.0.0.1:${port}\nssl_options.verify = verify_none\n${lines.join("")}`;
}

/** A quorum queue, and one for what is set aside. */
export async function aRabbitMqBroker(t: Afterwards): Promise<Broker> {
  const { url, kill } = await startRabbitMq(t);
  const open = channelOf(t, url);
  await insist(async () => {
    for (const queue of ["orders", "orders.aside"])
      await (await open()).assertQueue(queue, { arguments: { "x-queue-type": "quorum" } });
  });
  const aside: number[] = [];
  return {
    source: {
      ...{ kind: "rabbitmq", url, queues: ["orders"] },
      event: { organization: "acme", type: "order.created", data: { pointer: "" } },
      set_aside: { queue: "orders.aside" },
    },
    write: (numbers) =>
      insist(async () => {
        const channel = await open();
        for (const n of numbers) {
          const message = Buffer.from(JSON.stringify({ n }));
          channel.sendToQueue("orders", message, { messageId: String(n), persistent: true });
        }
        await channel.waitForConfirms();
      }),
    kill,
    setAside: () =>
      insist(async () => {
        const channel = await open();
        for (let found; (found = await channel.get("orders.aside"));) {
          aside.push((JSON.parse(found.content.toString()) as { n: number }).n);
          channel.ack(found);
        }
        return aside;
      }),
  };
}

/** Returns the way to a channel, which is opened anew after its connection was lost. */
export function channelOf(
  t: Pick<Afterwards, "after">,
  url: string,
): () => Promise<ConfirmChannel> {
  let opening: Promise<ConfirmChannel> | null = null;
  const forget = () => (opening = null);
  return () => {
    opening ??= open();
    opening.catch(forget);
    return opening;
  };

  async function open(): Promise<ConfirmChannel> {
    const connection = await connect(url);
    connection.on("error", forget);
    connection.on("close", forget);
    t.after(() => connection.close().catch(() => undefined));
    const channel = await connection.createConfirmChannel();
    channel.on("error", forget);
    return channel;
  }
}
