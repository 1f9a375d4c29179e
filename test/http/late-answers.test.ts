import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { buildApp } from "../../src/http/build-app.ts";
import { Busy } from "../../src/lib/errors.ts";

test("what a handler sends after its request was refused is dropped without a complaint, and an error is logged", async (t) => {
  const lines: { err?: { code: string } }[] = [];
  const logger = pino({}, { write: (line: string) => lines.push(JSON.parse(line) as never) });
  const app = buildApp({ logger, baseUrl: () => "", timeouts: { answer: 20 } });
  t.after(() => app.close());
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const handlers = {
    sends: held.then(() => "late"),
    throws: held.then(() => {
      throw new Busy();
    }),
  };
  for (const [name, ended] of Object.entries(handlers)) {
    app.get(`/${name}`, async (_request, reply) => reply.code(202).send(await ended));
  }
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  for (const name of Object.keys(handlers)) {
    assert.equal((await fetch(`${url}/${name}`)).status, 503);
  }

  release();
  await Promise.allSettled(Object.values(handlers));
  await new Promise(setImmediate);
  assert.deepEqual(
    lines.flatMap(({ err }) => err?.code ?? []),
    ["unavailable"],
  );
});
