import { jetstream, type JetStreamClient, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Afterwards } from "../ledger/afterwards.ts";
import { freePort } from "../support/free-port.ts";
import { skipOrFail } from "../support/required.ts";
import { ROOT } from "../support/root.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";
import { startServer } from "./broker-server.ts";
import type { TlsFiles } from "./connections.ts";
import type { Broker } from "./ledger.ts";
import { insist } from "./outbox-ledger.ts";

/** Where `GOBIN=$PWD/brokers/bin go install github.com/nats-io/nats-server/v2@v2.15.3` puts it. */
const NATS = process.env["NATS_SERVER"] ?? join(ROOT, "brokers/bin/nats-server");

export function hasNats(t: TestContext): boolean {
  if (!existsSync(NATS)) skipOrFail(t, "the NATS server is not installed: see .ci/run");
  return existsSync(NATS);
}

/** A server with JetStream, and a connection to it. */
export async function startNats(t: Pick<Afterwards, "after">, secure?: Secure) {
  const folder = await aTemporaryFolder(t);
  const port = await freePort();
  const options = ["-a", "127.0.0.1", "-p", String(port), "-js", "-sd", folder];
  if (secure) options.push(...securedBy(secure));
  const { kill } = await startServer(t, port, [NATS, ...options]);
  const servers = `${secure ? "localhost" : "127.0.0.1"}:${port}`;
  const connection = await connect({
    ...{ servers, maxReconnectAttempts: -1, reconnectTimeWait: 100 },
    ...(secure && { tls: { ca: secure.files.authority }, user: "bridge", pass: secure.password }),
  });
  t.after(() => connection.close());
  const manager = await jetstreamManager(connection);
  return { servers, kill, manager, stream: jetstream(connection) };
}

interface Secure {
  files: TlsFiles;
  /** Of the user `bridge`. */
  password: string;
}

function securedBy({ files: { ca, cert, key }, password }: Secure): string[] {
  const tls = ["--tls", "--tlscert", cert, "--tlskey", key, "--tlscacert", ca];
  return [...tls, "--user", "bridge", "--pass", password];
}

/** A stream of one subject for each of ten keys, and one for what is set aside. */
export async function aNatsBroker(t: Afterwards): Promise<Broker> {
  const { servers, kill, manager, stream } = await startNats(t);
  await manager.streams.add({ name: "orders", subjects: ["orders.*"] });
  await manager.streams.add({ name: "aside", subjects: ["aside"] });
  return {
    source: {
      ...{ kind: "nats", servers, stream: "orders" },
      event: { organization: "acme", type: "order.created", data: { pointer: "" } },
      set_aside: { subject: "aside" },
    },
    write: (numbers) => insist(() => write(stream, numbers)),
    kill,
    setAside: () =>
      insist(async () => {
        const { state } = await manager.streams.info("aside");
        const aside: number[] = [];
        for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq++) {
          const found = await manager.streams.getMessage("aside", { seq });
          if (found) aside.push(found.json<{ n: number }>().n);
        }
        return aside;
      }),
  };
}

/** A message that is written again, because its answer was lost, is dropped by its id. */
async function write(stream: JetStreamClient, numbers: readonly number[]): Promise<void> {
  const messages = numbers.map((n) => ({ subject: `orders.k${Math.abs(n) % 10}`, n }));
  await Promise.all(
    messages.map(({ subject, n }) =>
      stream.publish(subject, JSON.stringify({ n }), { msgID: String(n) }),
    ),
  );
}
