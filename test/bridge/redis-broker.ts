import { setTimeout as sleep } from "node:timers/promises";
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

type Node = Awaited<ReturnType<typeof startRedis>>;

/** Two nodes of a cluster. The first one keeps the slots up to that of the key, and the second one those behind it. */
export async function startRedisCluster(
  t: Pick<Afterwards, "after">,
  key: string,
): Promise<[Node, Node]> {
  const start = async () =>
    startRedis(t, undefined, [
      ...["--cluster-enabled", "yes", "--cluster-port", String(await freePort())],
    ]);
  const [keeper, other] = [await start(), await start()];
  const slot = await slotOf(keeper, key);
  await keeper.client.sendCommand(["CLUSTER", "ADDSLOTSRANGE", "0", String(slot)]);
  await other.client.sendCommand(["CLUSTER", "ADDSLOTSRANGE", String(slot + 1), "16383"]);
  const [, port = "", bus = ""] = /:(\d+)@(\d+) myself/.exec(await nodesOf(other)) ?? [];
  await keeper.client.sendCommand(["CLUSTER", "MEET", "127.0.0.1", port, bus]);
  while (!(await isUp(keeper)) || !(await isUp(other))) await sleep(50);
  return [keeper, other];
}

/** Moves the slot of the keys, and the keys. */
export async function moveSlot(from: Node, to: Node, keys: readonly string[]): Promise<void> {
  const slot = String(await slotOf(from, keys[0] ?? ""));
  const [source, target] = await Promise.all(
    [from, to].map(({ client }) => client.sendCommand<string>(["CLUSTER", "MYID"])),
  );
  const set = (node: Node, ...state: string[]) =>
    node.client.sendCommand(["CLUSTER", "SETSLOT", slot, ...state]);
  await set(to, "IMPORTING", source ?? "");
  await set(from, "MIGRATING", target ?? "");
  const { hostname, port } = new URL(to.url);
  for (const key of keys)
    await from.client.sendCommand(["MIGRATE", hostname, port, key, "0", "5000"]);
  for (const node of [to, from]) await set(node, "NODE", target ?? "");
}

async function slotOf({ client }: Node, key: string): Promise<number> {
  return client.sendCommand<number>(["CLUSTER", "KEYSLOT", key]);
}

function nodesOf({ client }: Node): Promise<string> {
  return client.sendCommand<string>(["CLUSTER", "NODES"]);
}

async function isUp({ client }: Node): Promise<boolean> {
  return (await client.sendCommand<string>(["CLUSTER", "INFO"])).includes("cluster_state:ok");
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
