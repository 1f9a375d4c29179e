import assert from "node:assert/strict";
import { connect, createServer } from "node:net";
import type { TestContext } from "node:test";
import pg from "pg";
import type { Afterwards } from "../ledger/afterwards.ts";
import { aBridge, aFakeService, checked } from "../support/bridge.ts";
import { openPort } from "../support/free-port.ts";
import { endTogether } from "./broker-server.ts";

/**
 * Lets a server start twice, before a check of the source and before a bridge runs on it: both wait, without an error. `begin` resolves
 * when the server answers that it is starting. Messages wait in the source. Returns how often the bridge has warned.
 */
export async function checkStarting(
  t: TestContext,
  { begin, ...source }: { begin: () => unknown } & Record<string, unknown>,
): Promise<number> {
  const { url, until } = await aFakeService(t, () => ({ status: 202 }));
  const rig = { url, sources: [{ name: "orders", ...source }] };
  await begin();
  assert.doesNotMatch(await checked(rig), /^FAILS/m);
  await begin();
  const bridge = await aBridge(t, rig, { firstMs: 500, maxMs: 30_000 });
  await until((asked) => asked.length > 0);
  const errors = bridge.log.filter(({ level }) => level === "error");
  assert.deepEqual(errors, []);
  const warnings = bridge.log.filter(({ msg }) => msg === "the source is starting: tried again");
  assert.ok(warnings.length > 0, "the server has not said that it is starting");
  await bridge.stop();
  return warnings.length;
}

/** Stands before a PostgreSQL, and refuses so many connections as one does that is starting. */
export async function aStartingPostgres(t: Pick<Afterwards, "after">, url: string) {
  const { host, port } = new pg.Client(url);
  const state = { refusals: 0 };
  const server = createServer((client) => {
    if (state.refusals-- > 0) {
      client.once("data", () => client.end(STARTING_UP));
      return;
    }
    const behind = host.startsWith("/") ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    client.pipe(behind).pipe(client);
    endTogether(t, client, behind);
  });
  const before = Object.assign(new URL(url), { hostname: "127.0.0.1", search: "" });
  before.port = String(await openPort(t, server));
  return { state, url: before.href };
}

const STARTING_UP = errorResponse({
  ...{ S: "FATAL", V: "FATAL", C: "57P03", M: "the database system is starting up" },
});

/** Each field is a letter and a text that ends with a zero. */
function errorResponse(fields: Record<string, string>): Buffer {
  const texts = Object.entries(fields).map(([letter, text]) => `${letter}${text}\0`);
  const body = Buffer.from(`${texts.join("")}\0`);
  const head = Buffer.from("E\0\0\0\0");
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}
