// Depends on: src

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { converse, type RawAnswer, rawRequest } from "../support/raw-http.ts";
import { createJudge } from "./judge.ts";
import { type Shot, shotAt } from "./shots.ts";
import { shotsAtEveryPlace } from "./sweep.ts";
import { aWorld, type Listener, ROUTE_HEADER } from "./world.ts";

/** Requests for each route. `FUZZ_RUNS=2000 FUZZ_SEED=1 npm test -- fuzz` sends more and different ones. */
const RUNS = Number(process.env["FUZZ_RUNS"] ?? 40);
const SEED = Number(process.env["FUZZ_SEED"] ?? 4);

test("any request to any route gets a documented response, causes no internal error, and is not repeated back", async (t) => {
  const listeners = await aWorld(t);
  const tally: Record<string, number> = {};
  for (const listener of listeners) {
    const judge = await createJudge(listener);
    for (const route of listener.routes) {
      const reached = new Set<number>();
      const examine = async (shot: Shot) => {
        const answer = await fire(listener, shot);
        judge(shot.method, answer);
        if (answer.status === 204) await listener.restore();
        if (answer.headers[ROUTE_HEADER] === route.url && shot.method === route.method) {
          reached.add(answer.status);
        }
        tally[answer.status] = (tally[answer.status] ?? 0) + 1;
      };
      for (const shot of shotsAtEveryPlace(route)) await examine(shot);
      await fc.assert(fc.asyncProperty(shotAt(route), examine), { numRuns: RUNS, seed: SEED });
      const where = `${listener.name}: ${String(route.method)} ${route.url}`;
      const isServed = [...reached].some((status) => status < 300 || status === 302);
      assert.ok(isServed, `${where} never got a valid request`);
    }
  }
  assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  const requests = Object.values(tally).reduce((sum, count) => sum + count, 0);
  t.diagnostic(`${requests} requests by status: ${JSON.stringify(tally)}`);
});

/** A second request that must get a response of its own. */
const FOLLOWING = rawRequest("GET /nowhere HTTP/1.1", ["Host: localhost", "Connection: close"]);

async function fire({ base, names }: Listener, shot: Shot): Promise<RawAnswer> {
  const fill = (text: string) => text.replace(/«(\w+)»/g, (_, name: string) => names[name] ?? name);
  const head = shot.headers.map(([name, value]) => `${name}: ${fill(value)}`);
  const request = [`${shot.method} ${fill(shot.target)} HTTP/1.1`, "Host: localhost", ...head];
  const bytes = [...request, ...framed(shot, fill)].join("\r\n");

  const isHead = shot.method === "HEAD";
  const answers = await converse(base, bytes + FOLLOWING, { isHead });
  const [answer, following, ...more] = answers.filter(({ status }) => status >= 200);
  assert.ok(answer, "no response");
  if (answer.headers["connection"] !== "close") assert.equal(following?.status, 404);
  else assert.equal(following, undefined);
  assert.deepEqual(more, [], "more than one response");
  return answer;
}

/** The last header, an empty line and the body in UTF-8. */
function framed({ body, isChunked }: Shot, fill: (text: string) => string): string[] {
  if (body === null) return ["", ""];
  const bytes = Buffer.from(fill(body)).toString("latin1");
  if (!isChunked) return [`Content-Length: ${bytes.length}`, "", bytes];
  const chunk = bytes === "" ? [] : [bytes.length.toString(16), bytes];
  return ["Transfer-Encoding: chunked", "", ...chunk, "0", "", ""];
}
