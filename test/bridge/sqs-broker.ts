import { SQS } from "@aws-sdk/client-sqs";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Afterwards } from "../ledger/afterwards.ts";
import { freePort } from "../support/free-port.ts";
import { skipOrFail } from "../support/required.ts";
import { ROOT } from "../support/root.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";
import { startServer } from "./broker-server.ts";
import type { Broker } from "./ledger.ts";
import { insist } from "./outbox-ledger.ts";

/** Where `mvn -f brokers/sqs.xml dependency:copy-dependencies -DoutputDirectory=lib-sqs` puts ElasticMQ. */
const ELASTICMQ = process.env["ELASTICMQ_LIB"] ?? join(ROOT, "brokers/lib-sqs");

export function hasSqs(t: TestContext): boolean {
  if (!existsSync(ELASTICMQ)) skipOrFail(t, "ElasticMQ is not installed: see brokers/sqs.xml");
  return existsSync(ELASTICMQ);
}

/** A server with the queues `orders` and `aside`, each once more with the ending `.fifo`. */
export async function startSqs(t: Pick<Afterwards, "after">) {
  const folder = await aTemporaryFolder(t);
  const port = await freePort();
  const file = join(folder, "elasticmq.conf");
  await writeFile(file, settingsOf(folder, port));
  const options = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];
  const main = [`-Dconfig.file=${file}`, "-cp", `${ELASTICMQ}/*`, "org.elasticmq.server.Main"];
  const { kill } = await startServer(t, port, ["java", ...options, ...main]);
  const endpoint = `http://127.0.0.1:${port}`;
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  const client = new SQS({ endpoint, region: "eu-central-1", credentials });
  t.after(() => {
    client.destroy();
  });
  const urlOf = (queue: string) => `${endpoint}/000000000000/${queue}`;
  const env = { AWS_ENDPOINT: endpoint, AWS_KEY: "test", AWS_SECRET: "test" };
  return { client, kill, urlOf, env };
}

/** Its database must not wait before it writes, or what was answered is gone after a kill. */
function settingsOf(folder: string, port: number): string {
  return `
include classpath("application.conf")
node-address { protocol = http, host = 127.0.0.1, port = ${port}, context-path = "" }
rest-sqs { enabled = true, bind-port = ${port}, bind-hostname = "127.0.0.1", sqs-limits = strict }
rest-stats { enabled = false }
messages-storage { enabled = true, uri = "jdbc:h2:${folder}/messages;WRITE_DELAY=0" }
queues {
  orders { }
  aside { }
  "orders.fifo" { fifo = true }
  "aside.fifo" { fifo = true }
}`;
}

export async function anSqsBroker(t: Afterwards): Promise<Broker> {
  const { client, kill, urlOf, env } = await startSqs(t);
  const aside: number[] = [];
  return {
    source: {
      ...{ kind: "sqs", queue: urlOf("orders"), region: "eu-central-1", visibility_timeout: "5s" },
      endpoint: env.AWS_ENDPOINT,
      credentials: { access_key_id: env.AWS_KEY, secret_access_key: env.AWS_SECRET },
      event: {
        ...{ organization: "acme", type: "order.created", data: { pointer: "" } },
        dedupe_key: { pointer: "/n" },
      },
      set_aside: { queue: urlOf("aside") },
    },
    /** What is sent again because its answer was lost has another id, so the data says what it is. */
    write: async (numbers) => {
      for (let at = 0; at < numbers.length; at += 10) {
        const Entries = numbers
          .slice(at, at + 10)
          .map((n, i) => ({ Id: String(i), MessageBody: JSON.stringify({ n }) }));
        await insist(() => client.sendMessageBatch({ QueueUrl: urlOf("orders"), Entries }));
      }
    },
    kill,
    setAside: () =>
      insist(async () => {
        const asked = { QueueUrl: urlOf("aside"), MaxNumberOfMessages: 10, VisibilityTimeout: 600 };
        for (;;) {
          const { Messages: found = [] } = await client.receiveMessage(asked);
          if (found.length === 0) break;
          for (const { Body = "" } of found) aside.push((JSON.parse(Body) as { n: number }).n);
        }
        return aside;
      }),
  };
}
