import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { aGateway } from "../support/gateway.ts";
import { ADMIN_TOKEN } from "../support/program.ts";

test("operators sign in to the gateway", async (t) => {
  const gateway = await aGateway(t, ["00", "01"]);
  await t.test("it serves the console, its health and its metrics", () => probe(gateway));
  await t.test("a session is one of all cells, until it is signed out", (t) =>
    useSession(t, gateway),
  );
  await t.test("a session that ended while a cell was away stays ended when it is back", () =>
    endWithoutOne(gateway),
  );
  await t.test("a cell that goes away and comes back is logged once", () => loseCells(gateway));
});

type Gateway = Awaited<ReturnType<typeof aGateway>>;
type Init = Omit<RequestInit, "headers"> & { headers?: Record<string, string> };

const CONSOLE = { "x-requested-with": "console", "content-type": "application/json" };

/** Returns a function that sends requests with the cookie of a new session, to the gateway or to another listener. */
async function signIn({ operatorUrl }: Gateway) {
  const { headers, status } = await fetch(`${operatorUrl}/api/v1/admin/session`, {
    ...{ method: "POST", body: JSON.stringify({ token: ADMIN_TOKEN }) },
    headers: { "content-type": "application/json" },
  });
  assert.equal(status, 204);
  const [cookie = ""] = (headers.get("set-cookie") ?? "").split(";");
  return (path: string, init: Init = {}, url = operatorUrl) =>
    fetch(`${url}/api/v1/admin${path}`, { ...init, headers: { cookie, ...init.headers } });
}

function getterOf(url: string) {
  return async (path: string) => {
    const answer = await fetch(url + path);
    return { status: answer.status, text: await answer.text() };
  };
}

async function probe({ operatorUrl, ask }: Gateway): Promise<void> {
  const get = getterOf(operatorUrl);
  assert.equal((await get("/console")).status, 200);
  assert.deepEqual(await get("/healthz"), { status: 200, text: '{"status":"ok"}' });
  const { text } = await get("/readyz");
  assert.equal(text, '{"status":"ready","checks":[{"name":"cells","ok":true}]}');
  assert.equal((await ask("/keys")).status, 200);
  const metrics = (await get("/metrics")).text;
  assert.match(metrics, /partner_api_cell_up\{cell="01"\} 1/);
  assert.match(
    metrics,
    /partner_api_cell_request_duration_seconds_count\{cell="00",status="200"\}/,
  );
}

async function useSession(t: TestContext, gateway: Gateway): Promise<void> {
  const ask = await signIn(gateway);
  const { cell, operatorUrl } = gateway;
  assert.equal((await ask("/session")).status, 200);
  const body = JSON.stringify({ slug: "acme", cell: "01" });
  const refused = await ask("/organizations", { method: "POST", body });
  assert.equal(refused.status, 403, "a change of another site is refused");
  const made = await ask("/organizations", { method: "POST", body, headers: CONSOLE });
  assert.equal(made.status, 201);
  const { items } = (await (await ask("/changes")).json()) as { items: Record<string, string>[] };
  assert.deepEqual(
    items.map(({ action, via, operator }) => [action, via, operator]),
    [
      ["create_organization", "console", "operator"],
      ["reserve_slug", "console", "operator"],
    ],
  );

  const ending = new AbortController();
  t.after(() => ending.abort());
  const live = await ask("/overview/live", { signal: ending.signal });
  assert.match(live.headers.get("content-type") ?? "", /event-stream/);
  const reader = (live.body as ReadableStream<Uint8Array>).getReader();
  const event = Buffer.from((await reader.read()).value ?? []).toString();
  const [, data = ""] = /^event: overview\ndata: (.*)\n\n$/s.exec(event) ?? [];
  const { processes } = JSON.parse(data) as { processes: { cell: string }[] };
  assert.deepEqual(processes.map((one) => one.cell).sort(), ["00", "01"]);

  const ended = await ask("/session", { method: "DELETE", headers: CONSOLE });
  assert.equal(ended.status, 204);
  assert.match(ended.headers.get("set-cookie") ?? "", /^partner_api_session=; Max-Age=0/);
  for (const url of [operatorUrl, cell("00").operatorUrl, cell("01").operatorUrl])
    for (const path of ["/organizations", "/session", "/overview", "/overview/live"])
      assert.equal((await ask(path, {}, url)).status, 401, `${url} ${path}`);
  while (!(await reader.read()).done); // The stream ends with its session.
}

async function endWithoutOne(gateway: Gateway): Promise<void> {
  const ask = await signIn(gateway);
  const { gate, operatorUrl } = gateway.cell("01");
  await gate.close();
  assert.equal((await ask("/session", { method: "DELETE", headers: CONSOLE })).status, 204);
  await gate.open();
  assert.equal((await ask("/organizations", {}, operatorUrl)).status, 200, "it was not told");
  assert.equal((await ask("/organizations")).status, 401, "the other one knows");
}

async function loseCells({ operatorUrl, cell, log }: Gateway): Promise<void> {
  const get = getterOf(operatorUrl);
  const before = log.length;
  await cell("01").gate.close();
  const { status, text } = await get("/readyz");
  assert.equal(status, 200, "the other one works");
  assert.match(text, /"detail":"01: does not answer"/);
  assert.match((await get("/metrics")).text, /partner_api_cell_up\{cell="01"\} 0/);
  await cell("00").gate.close();
  assert.equal((await get("/readyz")).status, 503);
  for (const name of ["00", "01"]) await cell(name).gate.open();
  while ((await get("/readyz")).text.includes("detail")) await sleep(20);
  const lines = log.slice(before).filter((line) => line["cell"] !== undefined);
  const told = lines.map((line) => `${String(line["level"])} ${String(line["cell"])}`);
  assert.deepEqual(told.sort(), ["30 00", "30 01", "40 00", "40 01"]);
}
