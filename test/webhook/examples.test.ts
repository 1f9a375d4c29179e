import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { downloads } from "../../site/downloads.ts";
import { converse, rawRequest } from "../support/raw-http.ts";
import { ROOT } from "../support/root.ts";
import { aDelivery, SECRET } from "./delivery.ts";
import { checkReceiver, TOO_MANY_BYTES } from "./check-receiver.ts";
import { startReceiving } from "./start-receiving.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";
import { setImmediate as nextTurn } from "node:timers/promises";

/** The public name, so that the test covers the `exports` of package.json. */
const LIBRARY = "@partner-api/webhook";

const start = (t: TestContext, example: string) =>
  startReceiving(t, process.execPath, {
    args: [join(ROOT, "examples", `${example}.mjs`)],
    env: { PARTNER_SECRET: SECRET, PORT: "0" },
  });

for (const example of ["node-http", "express", "fastify", "hono"]) {
  test(`examples/${example}.mjs handles each event once and refuses other requests`, async (t) => {
    const { port, output } = await start(t, example);
    await checkReceiver(port, output);
  });
}

for (const example of ["node-http", "express", "fastify", "hono"]) {
  test(`examples/${example}.mjs logs a mistake of the program, without the secret`, async (t) => {
    const { port, output } = await startReceiving(t, process.execPath, {
      args: [join(ROOT, "examples", `${example}.mjs`)],
      env: { PARTNER_SECRET: `"${SECRET}"`, PORT: "0" },
    });
    const { status } = await fetch(`http://127.0.0.1:${port}/hooks`, {
      method: "POST",
      ...aDelivery(),
    });
    assert.equal(status, 500);
    while (!output().includes("white space or a quote surrounds it")) await nextTurn(); // Express logs later.
    assert.doesNotMatch(output(), new RegExp(SECRET.replace(/[+/]/g, "[+/]")));
  });
}

// Express reads the rest of the body and discards it.
for (const example of ["node-http", "fastify", "hono"]) {
  test(
    `examples/${example}.mjs closes the connection when a body is too large`,
    { timeout: 15_000 },
    async (t) => {
      const { port } = await start(t, example);
      const chunk = `${TOO_MANY_BYTES.toString(16)}\r\n${"x".repeat(TOO_MANY_BYTES)}`;
      const headers = ["Host: localhost", "Transfer-Encoding: chunked"];
      const [answer] = await converse(
        `http://127.0.0.1:${port}`,
        rawRequest("POST /hooks HTTP/1.1", headers, chunk),
      );
      assert.equal(answer?.status, 413);
    },
  );
}

test("a receiver works with the library downloaded from the documentation", async (t) => {
  const folder = await aTemporaryFolder(t);
  const example = await readFile(join(ROOT, "examples/node-http.mjs"), "utf8");
  await writeFile(join(folder, "receiver.mjs"), example.replace(LIBRARY, "./webhook.mjs"));
  const library = downloads().find(({ name }) => name === "webhook.mjs");
  await writeFile(join(folder, "webhook.mjs"), library?.content ?? "");
  const { port, output } = await startReceiving(t, process.execPath, {
    args: [join(folder, "receiver.mjs")],
    env: { PARTNER_SECRET: SECRET, PORT: "0" },
  });
  await checkReceiver(port, output);
});

test("examples/fetch.mjs works in Node.js as in Workers, Deno and Bun", async (t) => {
  const log = t.mock.method(console, "log", () => undefined);
  const { default: worker } = (await import(join(ROOT, "examples/fetch.mjs"))) as {
    default: { fetch: (request: Request, env: object) => Promise<Response> };
  };
  const answer = async (change: object = {}) => {
    const request = new Request("https://localhost/hooks", {
      method: "POST",
      ...aDelivery(),
      ...change,
    });
    const response = await worker.fetch(request, { PARTNER_SECRET: SECRET });
    return `${response.status} ${await response.text()}`;
  };
  assert.equal(await answer(), "204 ");
  assert.equal(await answer({ body: "{}" }), "400 forged");
  assert.equal(await answer({ headers: {}, body: null }), "400 malformed");

  let pieces = 0;
  const body = new ReadableStream({
    pull: (controller) => {
      controller.enqueue(new Uint8Array(TOO_MANY_BYTES));
      if (++pieces === 10) controller.close();
    },
  });
  assert.equal(await answer({ body, duplex: "half" }), "413 more than 1 MiB");
  assert.ok(pieces < 10, "the receiver stops reading");
  assert.deepEqual(
    log.mock.calls.slice(1).map(({ arguments: [line] }) => line as string),
    ["forged", "malformed", "more than 1 MiB"].map(
      (reason) => `refused with ${reason.startsWith("more") ? 413 : 400}: ${reason}`,
    ),
  );
});

test("the examples import only the public interface", async () => {
  const library = (await import(LIBRARY)) as object;
  assert.deepEqual(Object.keys(library).sort(), [
    "REPLAY_WINDOW_MS",
    "createMemoryStore",
    "handleOnce",
    "verify",
    "verifySignature",
  ]);
});
