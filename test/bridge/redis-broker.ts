import { createClient } from "@redis/client";
import type { Afterwards } from "../ledger/afterwards.ts";
import { freePort } from "../support/free-port.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";
import { startServer } from "./broker-server.ts";
import type { TlsFiles } from "./connections.ts";
import type { Broker } from "./ledger.ts";
import { insist } from "./outbox-ledger.ts";

/** A server with an append-only file, and a connection to it. */
export async function startRedis(
  t: Pick<Afterwards, "after">,
  tls?: TlsFiles,
  further: readonly string[] = [],
) {
  const folder = await aTemporaryFolder(t);
  const [port, securePort] = [await freePort(), await freePort()];
  const secured = tls ? securedBy(tls, securePort) : [];
  const options = [
    "--bind",
    "127.0.0.1",
    "--port",
    String(port),
    "--dir",
    folder,
    ...secured,
    ...further,
  ];
  const command = ["redis-server", ...options, "--appendonly", "yes", "--save", ""] as const;
  const { kill } = await startServer(t, port, command);
  const url = `redis://127.0.0.1:${port}`;
  const client = createClient({ url, RESP: 2, socket: { reconnectStrategy: 100 } });
  client.on("error", () => undefined);
  await insist(() => client.connect());
  t.after(() => {
    client.destroy();
  });
  return { url, kill, client, securePort };
}

function securedBy({ ca, cert, key }: TlsFiles, port: number): string[] {
  const files = ["--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", ca];
  return ["--tls-port", String(port), ...files, "--tls-auth-clients", "no"];
}

/** A stream, and one for what is set aside. */
export async function aRedisBroker(t: Afterwards): Promise<Broker> {
  const { url, kill, client } = await startRedis(t);
  let id = 0;
  return {
    source: {
      ...{ kind: "redis", url, streams: "orders", claim_after: "3s", field: "order" },
      event: { organization: "acme", type: "order.created", data: { pointer: "" } },
      set_aside: { stream: "aside" },
    },
    /** With ids of our own, so that an entry is not written twice when its answer was lost. */
    write: async (numbers) => {
      for (const n of numbers) {
        const add = ["XADD", "orders", `${++id}-1`, "order", JSON.stringify({ n })];
        await insist(() => client.sendCommand(add).catch(unlessItIsThere));
      }
    },
    kill,
    setAside: () =>
      insist(async () => {
        const entries = await client.sendCommand<Entry[]>(["XRANGE", "aside", "-", "+"]);
        return entries.map(([, [, order = ""]]) => (JSON.parse(order) as { n: number }).n);
      }),
  };
}

type Entry = [id: string, fields: string[]];

function unlessItIsThere(error: unknown): void {
  if (!(error as Error).message.includes("equal or smaller than the target")) throw error;
}
