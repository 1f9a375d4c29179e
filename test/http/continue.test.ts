import assert from "node:assert/strict";
import { once } from "node:events";
import { test, type TestContext } from "node:test";
import { createDatabase } from "../support/database.ts";
import { createEngine } from "../support/engine.ts";
import { OPERATORS, startOperatorApi } from "../support/operator-api.ts";
import { startPartnerApi } from "../support/partner-api.ts";
import { aListeningApi } from "../support/problems.ts";
import { aClient, converse, rawRequest } from "../support/raw-http.ts";

const db = await createDatabase();

const WEBHOOKS = "POST /api/v1/partner/webhooks HTTP/1.1";
const HOST = "Host: localhost";
const BODY = "{}";
const ASKING = ["Content-Type: application/json", `Content-Length: ${BODY.length}`].concat(
  "Expect: 100-continue",
);

test("a client with Expect: 100-continue gets 100 when its key is known", async (t) => {
  const { base, authorization } = await aListeningApi(t, db);
  const head = [HOST, `Authorization: ${authorization}`, ...ASKING];
  const statuses = await ask(t, base, rawRequest(WEBHOOKS, head));
  assert.deepEqual(statuses, ["100 Continue", "422 Unprocessable Entity"]);
});

test("a client of the operators' listener gets 100 when its token is known", async (t) => {
  const { deps } = await createEngine(db);
  const { app } = startOperatorApi(t, deps);
  const base = await app.listen({ host: "127.0.0.1", port: 0 });
  const line = "POST /api/v1/admin/organizations HTTP/1.1";
  const token = `Authorization: Bearer ${OPERATORS[0]?.token ?? ""}`;
  const statuses = await ask(t, base, rawRequest(line, [HOST, token, ...ASKING]));
  assert.deepEqual(statuses, ["100 Continue", "422 Unprocessable Entity"]);
  assert.deepEqual(await ask(t, base, rawRequest(line, [HOST, ...ASKING])), ["401 Unauthorized"]);
});

test("a client that is refused gets the refusal instead of 100, and its connection ends", async (t) => {
  const api = startPartnerApi(t, db);
  const weak = await api.aKeyWith();
  const refused: [line: string, headers: string[], status: number][] = [
    [WEBHOOKS, [], 401],
    [WEBHOOKS, ["Authorization: Bearer nonsense"], 401],
    [WEBHOOKS, [`Authorization: ${weak.authorization}`], 403],
    ["POST /nowhere HTTP/1.1", [], 404],
    ["PUT /api/v1/partner/webhooks HTTP/1.1", [], 405],
  ];
  const served: string[] = [];
  api.app.addHook("onRequest", ({ url }, _reply, done) => {
    served.push(url);
    done();
  });
  const base = await api.listen();
  const behind = rawRequest("GET /healthz HTTP/1.1", [HOST]);
  for (const [line, headers, status] of refused) {
    const bytes = rawRequest(line, [HOST, ...headers, ...ASKING], BODY + behind);
    const answers = await converse(base, bytes);
    assert.deepEqual(
      answers.map((answer) => [answer.status, answer.headers["connection"]]),
      [[status, "close"]],
      line,
    );
  }
  assert.ok(!served.includes("/healthz"));
});

/** The statuses of all answers to a request that sends its body after a 100. */
async function ask(t: TestContext, base: string, head: string): Promise<string[] | null> {
  const client = aClient(t, base);
  let text = "";
  client.setEncoding("latin1").on("data", (more: string) => (text += more));
  client.write(head);
  while (!/ [2-5]\d\d .*\r\n/.test(text)) {
    await once(client, "data");
    if (text.endsWith("100 Continue\r\n\r\n")) client.write(BODY);
  }
  return text.match(/(?<=HTTP\/1\.1 )\d.*(?=\r\n)/g);
}
