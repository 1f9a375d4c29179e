import { connect, createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { loadGatewayConfig } from "../../src/gateway/config.ts";
import { startGateway } from "../../src/gateway/gateway.ts";
import { openPort } from "./free-port.ts";
import { ADMIN_TOKEN } from "./program.ts";
import { aRig, type Answered, call, partnerOf } from "./rig.ts";
import { type RunningService, startService } from "./service.ts";

/** A gate between the gateway and a cell. */
export interface CellGate {
  url: string;
  /** Connections break off and new ones are refused. */
  close: () => Promise<void>;
  open: () => Promise<void>;
  /** Nothing passes in either direction, and no connection is closed. */
  freeze: () => void;
  thaw: () => void;
  /** Freezes when one more message of the gateway has passed. */
  freezeAfterNext: () => void;
  /** How many connections there were. */
  dialled: () => number;
}

/** Puts a gate in front of a listener. */
export async function aCellGate(t: Pick<TestContext, "after">, to: string): Promise<CellGate> {
  const { hostname, port: behind } = new URL(to);
  const pairs = new Map<Socket, Socket>();
  let isFrozen = false;
  let dialled = 0;
  const server = createServer((client) => {
    dialled++;
    const cell = connect(Number(behind), hostname);
    pairs.set(client, cell);
    for (const [from, other] of [
      [client, cell],
      [cell, client],
    ] as const) {
      from.on("error", () => undefined);
      from.on("close", () => {
        other.destroy();
        pairs.delete(client);
      });
    }
    if (!isFrozen) client.pipe(cell).pipe(client);
  });
  const port = await openPort(t, server);
  t.after(() => {
    for (const socket of pairs.keys()) socket.destroy();
  });
  const gate: CellGate = {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of pairs.keys()) socket.destroy();
      }),
    open: () => new Promise((resolve) => void server.listen(port, "127.0.0.1", resolve)),
    freeze: () => {
      isFrozen = true;
      for (const pair of pairs) for (const socket of pair) socket.unpipe().pause();
    },
    freezeAfterNext: () => {
      for (const client of pairs.keys()) client.once("data", gate.freeze); // Behind the pipe's own listener.
    },
    thaw: () => {
      isFrozen = false;
      for (const [client, cell] of pairs) client.pipe(cell).pipe(client);
    },
    dialled: () => dialled,
  };
  return gate;
}

export interface CellUnderTest extends RunningService {
  gate: CellGate;
  env: Record<string, string>;
}

export type Ask = (
  path: string,
  request?: { method?: string; body?: unknown },
) => Promise<Answered>;

/** Cells in this process, each with a database of its own, and a gateway in front of them. */
export async function aGateway(
  t: TestContext,
  names: string[],
  further: Record<string, string> = {},
) {
  const cells = new Map<string, CellUnderTest>();
  for (const name of names) {
    const env = await aRig(t, { CELL: name, ...further });
    const service = await startService(t, env);
    cells.set(name, { ...service, env, gate: await aCellGate(t, service.operatorUrl) });
  }
  const log: Record<string, unknown>[] = [];
  const places = [...cells].map(([name, { gate }]) => `${name}=${gate.url}`);
  const config = loadGatewayConfig({ ADMIN_TOKEN, OPERATOR_PORT: "0", CELLS: places.join(" ") });
  const gateway = await startGateway(config, {
    write: (line) => void log.push(JSON.parse(line) as Record<string, unknown>),
  });
  t.after(() => gateway.stop());
  const ask: Ask = (path, request = {}) =>
    call(`${gateway.operatorUrl}/api/v1/admin${path}`, { ...request, token: ADMIN_TOKEN });
  const cell = (name: string) => {
    const found = cells.get(name);
    if (!found) throw new Error(`there is no cell ${name}`);
    return found;
  };
  return { ...gateway, log, ask, cell, partnerIn: aPartnerIn(ask, cell) };
}

/** Creates a partner through the gateway, in a cell. */
function aPartnerIn(ask: Ask, cell: (name: string) => CellUnderTest) {
  return async (name: string, slug: string) => {
    const made = await ask("/organizations", {
      method: "POST",
      body: { slug, cell: name, rate_limit_per_minute: 100_000 },
    });
    const key = await ask("/keys", {
      method: "POST",
      body: { organization: slug, scopes: ["webhooks:manage"] },
    });
    const { token, key_id: keyId } = key.body as { token: string; key_id: string };
    return { ...partnerOf(cell(name), token), slug, keyId, organization: made.body };
  };
}
