import { jetstream, type JetStreamClient, jetstreamManager } from "@nats-io/jetstream";
import {
  connect,
  credsAuthenticator,
  nkeys,
  type NodeConnectionOptions,
} from "@nats-io/transport-node";
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
export async function startNats(
  t: Pick<Afterwards, "after">,
  { options = [], client = {} }: Access = {},
) {
  const folder = await aTemporaryFolder(t);
  const port = await freePort();
  const own = ["-a", "127.0.0.1", "-p", String(port), "-js", "-sd", folder];
  const { kill } = await startServer(t, port, [NATS, ...own, ...options]);
  const servers = `${client.tls ? "localhost" : "127.0.0.1"}:${port}`; // The certificate is for the name.
  const always = { servers, maxReconnectAttempts: -1, reconnectTimeWait: 100 };
  const connection = await connect({ ...always, ...client });
  t.after(() => connection.close());
  const manager = await jetstreamManager(connection);
  return { servers, kill, manager, stream: jetstream(connection) };
}

/** Two servers of a cluster, which need each other to elect a leader. Clients know the first one. */
export async function aNatsPair(t: Pick<Afterwards, "after">) {
  const places = await Promise.all([0, 1].map(async () => [await freePort(), await freePort()]));
  const routes = places.map(([, route]) => `nats://127.0.0.1:${route}`);
  const start = async ([port = 0]: number[], i: number) => {
    const own = ["-a", "127.0.0.1", "-p", String(port), "-js", "-sd", await aTemporaryFolder(t)];
    const name = ["-n", `server-${i}`, "--cluster_name", "pair", "--routes", routes.join(",")];
    return startServer(t, port, [NATS, ...own, ...name, "--cluster", routes[i] ?? ""]);
  };
  const [first, second] = (await Promise.all(places.map(start))) as [Server, Server];
  const servers = `127.0.0.1:${places[0]?.[0]}`;
  const connection = await connect({ servers, maxReconnectAttempts: -1, reconnectTimeWait: 100 });
  t.after(() => connection.close());
  const manager = await insist(() => jetstreamManager(connection));
  return { servers, first, second, manager, stream: jetstream(connection) };
}

/** A server without JetStream, and behind it one that has JetStream in a domain. Clients know the first one. */
export async function aNatsLeaf(t: Pick<Afterwards, "after">, domain: string) {
  const [hub, leaves, port] = [await freePort(), await freePort(), await freePort()];
  const folder = await aTemporaryFolder(t);
  const start = async (name: string, own: number, config: string) => {
    const file = join(folder, name);
    await writeFile(file, config);
    await startServer(t, own, [NATS, "-a", "127.0.0.1", "-p", String(own), "-c", file]);
  };
  const jetstream = `jetstream { domain: ${domain}, store_dir: "${folder}" }`;
  await start("hub.conf", hub, `${jetstream}\nleafnodes { listen: "127.0.0.1:${leaves}" }`);
  await start(
    "leaf.conf",
    port,
    `leafnodes { remotes: [{ url: "nats-leaf://127.0.0.1:${leaves}" }] }`,
  );
  return { servers: `127.0.0.1:${port}`, hub: await connectTo(t, `127.0.0.1:${hub}`) };
}

async function connectTo(t: Pick<Afterwards, "after">, servers: string) {
  const connection = await connect({ servers });
  t.after(() => connection.close());
  return { manager: await jetstreamManager(connection), stream: jetstream(connection) };
}

type Server = Awaited<ReturnType<typeof startServer>>;

/** What a server asks of its clients, and how the test's own client meets it. */
interface Access {
  options?: readonly string[];
  client?: NodeConnectionOptions;
}

/** TLS, and the user `bridge` with this password. */
export function overTls({ authority, ca, cert, key }: TlsFiles, password: string): Access {
  const tls = ["--tls", "--tlscert", cert, "--tlskey", key, "--tlscacert", ca];
  return {
    options: [...tls, "--user", "bridge", "--pass", password],
    client: { tls: { ca: authority }, user: "bridge", pass: password },
  };
}

/** A server that knows its users by their JWTs, a file of one of them, and a file of a stranger. */
export async function byCredentials(t: Pick<Afterwards, "after">) {
  const [operator, system, account] = [
    nkeys.createOperator(),
    nkeys.createAccount(),
    nkeys.createAccount(),
  ];
  const all = { subs: -1, data: -1, payload: -1, imports: -1, exports: -1, conn: -1, leaf: -1 };
  const limits = { ...all, wildcards: true };
  const streams = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  const files = {
    "operator.jwt": jwt(operator, operator, { type: "operator" }),
    [`${system.getPublicKey()}.jwt`]: jwt(operator, system, { type: "account", limits }),
    [`${account.getPublicKey()}.jwt`]: jwt(operator, account, {
      ...{ type: "account", limits: { ...limits, ...streams } },
    }),
  };
  const folder = await aTemporaryFolder(t);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const config = join(folder, "server.conf");
  await writeFile(
    config,
    `operator: "${join(folder, "operator.jwt")}"
     system_account: ${system.getPublicKey()}
     resolver: MEMORY
     resolver_preload: {${[system, account]
       .map((one) => `${one.getPublicKey()}: "${files[`${one.getPublicKey()}.jwt`] ?? ""}"`)
       .join(", ")}}`,
  );
  const creds = credentials(account);
  const authenticator = credsAuthenticator(new TextEncoder().encode(creds));
  const access: Access = { options: ["-c", config], client: { authenticator } };
  return { access, creds, stranger: credentials(nkeys.createAccount()) };
}

type Key = ReturnType<typeof nkeys.createUser>;

/** As `nsc` writes it. */
function credentials(account: Key): string {
  const user = nkeys.createUser();
  const token = jwt(account, user, { type: "user", subs: -1, data: -1, payload: -1 });
  const seed = new TextDecoder().decode(user.getSeed());
  return `-----BEGIN NATS USER JWT-----
${token}
------END NATS USER JWT------
-----BEGIN USER NKEY SEED-----
${seed}
------END USER NKEY SEED------
`;
}

function jwt(issuer: Key, subject: Key, nats: object): string {
  const [iss, sub] = [issuer.getPublicKey(), subject.getPublicKey()];
  const claims = { iat: 1, iss, sub, name: sub, nats: { ...nats, version: 2 } };
  const base64 = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const said = `${base64({ typ: "JWT", alg: "ed25519-nkey" })}.${base64(claims)}`;
  return `${said}.${Buffer.from(issuer.sign(Buffer.from(said))).toString("base64url")}`;
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
