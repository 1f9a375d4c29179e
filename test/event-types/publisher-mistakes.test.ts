import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import {
  Publisher,
  type NewEvent,
  type PublisherOptions,
} from "../../src/event-types/libraries/publisher.ts";
import { requireProgram } from "../support/required.ts";
import { ROOT } from "../support/root.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const run = promisify(execFile);
const LIBRARIES = join(ROOT, "src/event-types/libraries");

test("the TypeScript publisher explains mistakes without sending anything", async () => {
  const good = { baseUrl: "https://localhost:1", token: "t".repeat(32) };
  for (const [wrong, says] of [
    [{ ...good, baseUrl: undefined }, /baseUrl/],
    [{ ...good, baseUrl: "localhost:8081" }, /baseUrl/],
    [{ ...good, baseUrl: "https://localhost/api/v1/admin/" }, /without \/api\/v1\/admin/],
    [{ ...good, token: undefined }, /token.*variable/],
    [{ ...good, token: `${good.token}\n` }, /token.*white space/],
    [{ ...good, attempts: 0 }, /attempts must be a whole number of at least 1/],
    [{ ...good, attempts: NaN }, /attempts must be/],
    [{ ...good, delayMs: "200" }, /delayMs must be/],
    [{ ...good, timeoutMs: 0.5 }, /timeoutMs must be/],
  ] as const) {
    const make = () => new Publisher(wrong as unknown as PublisherOptions);
    assert.throws(make, { name: "TypeError", message: says });
  }

  const fetch = () => assert.fail("sent");
  const publisher = new Publisher({ ...good, fetch });
  const event = { organization: "acme", type: "a.b", data: {} };
  const publish = (events: unknown) => publisher.publishAll(events as NewEvent[]);
  await assert.rejects(publish(event), /array of events; publish takes one/);
  await assert.rejects(publish([undefined]), /needs \{ organization, type, data \}/);
  for (const data of [undefined, new Map(), Promise.resolve({}), [], "text"]) {
    await assert.rejects(publish([{ ...event, data }]), /the data of a\.b must be an object, not/);
  }
  for (const [total, says] of [
    [1n, /^TypeError: total is a bigint, which JSON cannot express/],
    [NaN, /^TypeError: total is NaN, which JSON cannot express/],
    [Infinity, /^TypeError: total is Infinity, which JSON cannot express/],
    [new Map([["a", 1]]), /^TypeError: total is a Map, which JSON cannot express/],
    [[new Set()], /^TypeError: 0 is a Set, which/],
    [Promise.resolve(1), /^TypeError: total is a Promise, which/],
    [new Uint8Array(3), /^TypeError: total is a Uint8Array, which/],
    [() => 1, /^TypeError: total is a Function, which/],
  ] as const) {
    await assert.rejects(publish([{ ...event, data: { total } }]), says);
  }
});

test("the TypeScript publisher takes an address as a URL or with white space, and every value that JSON has", async () => {
  for (const baseUrl of [new URL("https://a.example/x/"), " https://a.example/x\n"]) {
    const asked: [url: unknown, body: unknown][] = [];
    const fetch = (url: unknown, { body }: { body: string }) => {
      asked.push([url, JSON.parse(body)]);
      return Promise.resolve(Response.json({ items: [{ event_id: "evt_x" }] }, { status: 202 }));
    };
    const options = { baseUrl, token: "t", fetch } as unknown as PublisherOptions;
    const data = { at: new Date(0), none: null, absent: undefined, list: ["a", 1, true] };
    await new Publisher(options).publish({
      ...{ organization: "acme", type: "a.b", dedupe_key: "k", data },
    });
    const sent = { at: "1970-01-01T00:00:00.000Z", none: null, list: ["a", 1, true] };
    const event = { organization: "acme", type: "a.b", dedupe_key: "k", data: sent };
    assert.deepEqual(asked, [["https://a.example/x/api/v1/admin/events", { events: [event] }]]);
  }
});

test("the Python publisher explains mistakes without sending anything", async (t) => {
  if (!(await requireProgram(t, "python3", ["--version"]))) return;
  const program = `
from publisher import Publisher
url, token = "http://127.0.0.1:1", "t" * 32
for call in [
    lambda: Publisher(None, token), lambda: Publisher("localhost", token), lambda: Publisher(url + "/api/v1/admin", token),
    lambda: Publisher(url, None), lambda: Publisher(url, token + "\\n"), lambda: Publisher(url, ""),
    lambda: Publisher(url, token).publish_all({"type": "a.b"}), lambda: Publisher(url, token).publish("a.b"),
    lambda: Publisher(url, token).publish_all([None]),
]:
    try:
        print("accepted", call())
    except (TypeError, ValueError) as error:
        print(error)`;
  const { stdout } = await run("python3", ["-B", "-c", program], { cwd: LIBRARIES });
  const said = stdout.trimEnd().split("\n");
  assert.deepEqual(
    said.map((line) => line.split(" ")[0]),
    [
      ...["base_url", "base_url", "base_url", "token", "token", "token"],
      ...["publish_all", "publish_all", "publish_all"],
    ],
  );
});

test("the Go publisher explains mistakes without sending anything", async (t) => {
  if (!(await requireProgram(t, "go", ["version"]))) return;
  const folder = await aTemporaryFolder(t);
  await mkdir(join(folder, "events"));
  await copyFile(join(LIBRARIES, "publisher.go"), join(folder, "events/events.go"));
  await writeFile(join(folder, "go.mod"), "module mistakes\n\ngo 1.19\n");
  await writeFile(
    join(folder, "main.go"),
    `package main

import (
	"context"
	"fmt"
	"mistakes/events"
)

func main() {
	ctx, url, token, one := context.Background(), "http://127.0.0.1:1", "t", []events.NewEvent{{}}
	say := func(ctx context.Context, p events.Publisher) {
		_, err := p.PublishAll(ctx, one)
		fmt.Println(err)
	}
	say(nil, events.Publisher{BaseURL: url, Token: token})
	say(ctx, events.Publisher{Token: token})
	say(ctx, events.Publisher{BaseURL: url + "/api/v1/admin/", Token: token})
	say(ctx, events.Publisher{BaseURL: url})
	say(ctx, events.Publisher{BaseURL: url, Token: "t\\n"})
	say(ctx, events.Publisher{BaseURL: url, Token: token})
}
`,
  );
  const env = { ...process.env, GOTOOLCHAIN: "local", GOPROXY: "off", GOFLAGS: "" };
  const { stdout } = await run("go", ["run", "."], { cwd: folder, env });
  const faults = [
    ...["the context is nil", "BaseURL must", "BaseURL must be the address without"],
    ...["Token must", "Token must", "event 1 has no Data"],
  ];
  const said = stdout.trimEnd().split("\n");
  assert.equal(said.length, faults.length);
  faults.forEach((fault, at) => {
    assert.ok(said[at]?.startsWith(`events: ${fault}`), said[at]);
  });
});
