import assert from "node:assert/strict";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { handleOnce, type EventStore } from "../../src/webhook/handle-once.ts";
import { createMemoryStore } from "../../src/webhook/memory-store.ts";
import { verify, type Delivery } from "../../src/webhook/verify.ts";
import { aDelivery, SECRET } from "./delivery.ts";

const { headers, body } = aDelivery();

/** Calls `verify` as JavaScript does, without type checks. */
function verifying(mistake: Record<string, unknown>) {
  return verify({ secret: SECRET, headers, body, ...mistake });
}

function aNodeRequest(): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  for (const [name, value] of Object.entries(headers)) {
    request.headers[name.toLowerCase()] = value;
  }
  return request;
}

function aFetchRequest(): Request {
  return new Request("https://localhost", { method: "POST", headers, body });
}

const wrongHeaders: [what: string, headers: unknown, says: RegExp][] = [
  ["undefined", undefined, /they are missing\. Pass request\.headers/],
  ["null", null, /they are missing/],
  ["a promise, as of Next.js 15", Promise.resolve(new Headers(headers)), /promise: await it/],
  ["a function", () => headers, /got a function/],
  ["a text", "x-vc-signature: sha256=00", /got a string/],
  ["pairs", Object.entries(headers), /got an array.*Object\.fromEntries/],
  ["rawHeaders", Object.entries(headers).flat(), /got an array/],
  ["a Node.js request", aNodeRequest(), /whole request/],
  ["a Fetch request", aFetchRequest(), /whole request/],
  ["the context of Hono", { req: aFetchRequest(), get: () => undefined }, /context/],
  ["the event of SvelteKit, or of a loader", { request: aFetchRequest(), params: {} }, /context/],
  [
    "the cookies of SvelteKit or Next.js",
    { get: () => undefined, getAll: () => [], set: () => undefined },
    /got cookies/,
  ],
  ["URLSearchParams", new URLSearchParams(headers), /URLSearchParams/],
  ["the parsed body", { event: "vc.test.ping", data: { message: "" } }, /data is an object/],
  ["the body", Buffer.from("{}"), /Uint8Array/],
  ["headers of CloudFront", { "x-vc-signature": [{ key: "", value: "" }] }, /x-vc-signature/],
  ["a number", { ...headers, "X-VC-Timestamp": 1 }, /x-vc-timestamp as the text/],
  ["Headers whose get is asynchronous", { get: () => Promise.resolve("x") }, /x-vc-signature as/],
];

for (const [what, wrong, says] of wrongHeaders) {
  test(`${what} in place of the headers is explained`, async () => {
    await assert.rejects(verifying({ headers: wrong }), (error: Error) => {
      assert.equal(error.name, "TypeError");
      assert.match(error.message, /^verify needs /);
      assert.match(error.message, says);
      return true;
    });
  });
}

const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
const goodHeaders: [what: string, headers: unknown][] = [
  ["a Map in any letter case", new Map(Object.entries(headers))],
  ["a Map in lower case", new Map(lower)],
  ["Headers with getAll, as of Workers", Object.assign(new Headers(headers), { getAll: () => [] })],
  [
    "Headers of another realm",
    runInNewContext("({ get: (name) => map.get(name) })", {
      map: new Map(lower),
    }),
  ],
  ["a Map of another realm", runInNewContext("new Map(pairs)", { pairs: lower })],
  ["an object without a prototype", Object.assign(Object.create(null), headers)],
  [
    "an Express request, whose get reads headers",
    {
      headers: Object.fromEntries(lower),
      get: (name: string) => new Map(lower).get(name.toLowerCase()),
    },
  ],
  [
    "headers named like members of a request",
    {
      ...headers,
      ...{ headers: "x", req: "x", request: "x", then: "x", get: "x" },
    },
  ],
];

for (const [what, good] of goodHeaders) {
  test(`${what} verifies`, async () => {
    assert.equal((await verifying({ headers: good })).verdict, "valid");
  });
}

test("white space or quotes around the secret are explained, and never read as forged", async () => {
  const wrong = [
    `${SECRET}\n`,
    ` ${SECRET}`,
    `${SECRET}\r\n`,
    `"${SECRET}"`,
    `'${SECRET}'`,
    `\t${SECRET}`,
  ];
  for (const secret of [...wrong, [SECRET, `${SECRET} `]]) {
    await assert.rejects(verifying({ secret }), { name: "TypeError", message: /as issued/ });
  }
});

test("a secret of another kind is explained", async () => {
  for (const secret of [[SECRET, undefined], Buffer.from(SECRET), Promise.resolve(SECRET), 7]) {
    await assert.rejects(verifying({ secret }), { name: "TypeError", message: /signing secret/ });
  }
});

test("a secret that is not as issued is explained, and never read as forged", async () => {
  for (const secret of [
    SECRET.slice("whsec_".length),
    `${SECRET},whsec_x`,
    `whsec_x ${SECRET}`,
    "vck_id.secret",
    "wh_01990000-0000-7000-8000-000000000001",
    "undefined",
    "whsec_",
    [SECRET, "whsec_x,whsec_y"],
  ]) {
    await assert.rejects(verifying({ secret }), {
      name: "TypeError",
      message: /^verify needs the signing secret as issued, from whsec_ to its end/,
    });
  }
});

test("a clock that is not a number is explained", async () => {
  for (const now of [NaN, Infinity, -Infinity]) {
    await assert.rejects(verifying({ now }), { name: "TypeError", message: /but got -?[NI]/ });
  }
});

test("a body in base64 is explained also without its length, as AWS Lambda passes it", async () => {
  const inBase64 = Buffer.from(body).toString("base64");
  for (const wrong of [inBase64, Buffer.from(inBase64)]) {
    await assert.rejects(verifying({ body: wrong }), {
      name: "TypeError",
      message: /got them in base64: decode them first, in AWS Lambda/,
    });
  }
  const other = Buffer.from("e").toString("base64");
  for (const wrong of [`${inBase64.slice(0, -4)}fSA=`, other, `e${inBase64}`, "eyJ=", "e==="]) {
    assert.equal((await verifying({ body: wrong })).verdict, "forged", wrong);
  }
});

test("the context of Koa, whose get returns an empty text, is explained as other headers are", async () => {
  const values = new Map(lower);
  values.set("content-length", "231");
  const context = { headers: {}, req: {}, get: (name: string) => values.get(name) ?? "" };
  assert.equal((await verifying({ headers: context })).verdict, "valid");
  await assert.rejects(verifying({ headers: context, body: "" }), { message: /where 231 arrived/ });
});

test("a clock in seconds or of another kind is explained, and never reads as stale", async () => {
  const seconds = Math.floor(Date.now() / 1000);
  await assert.rejects(verifying({ now: seconds }), { name: "TypeError", message: /got seconds/ });
  for (const now of [new Date(), String(Date.now()), BigInt(Date.now()), Date.now]) {
    await assert.rejects(verifying({ now }), { name: "TypeError", message: /milliseconds/ });
  }
});

test("a body that was read before is explained, if its length is known", async () => {
  const sent = { ...headers, "content-length": "231" };
  for (const spent of ["", new Uint8Array(), "[object Object]"]) {
    await assert.rejects(verifying({ headers: sent, body: spent }), {
      message: /got \d+ where 231 arrived.*Read it once/,
    });
  }
});

test("a body that was decoded or parsed is explained, and never reads as forged", async () => {
  const sent = aDelivery({ data: JSON.stringify({ message: "Grüße" }) });
  const bytes = Buffer.from(sent.body);
  const length = { "content-length": String(bytes.length) };
  const json: unknown = JSON.parse(bytes.toString());
  for (const wrong of [
    ...(["latin1", "base64", "hex"] as const).map((encoding) => bytes.toString(encoding)),
    JSON.stringify(json, null, 2),
    Buffer.from(JSON.stringify(json, null, 1)),
  ]) {
    await assert.rejects(verifying({ headers: { ...sent.headers, ...length }, body: wrong }), {
      name: "TypeError",
      message: /got \d+ where \d+ arrived: the body was read, decoded or parsed before/,
    });
  }
});

test("no sender's encoding, and no limit of the program, causes an exception", async () => {
  for (const [more, arrived] of [
    [{ "content-length": "1" }, "\uFFFD"],
    [{ "content-length": "1", "content-type": "text/plain; charset=latin1" }, "ü"],
    [{ "content-length": "1", "content-encoding": "gzip" }, "{}"],
    [{ "content-length": "9000000" }, "{}"],
    [{ "content-length": "3", "content-type": "text/plain; charset=UTF-8" }, "{}"],
  ] as const) {
    const { verdict } = await verifying({ headers: { ...headers, ...more }, body: arrived });
    assert.equal(verdict, "forged");
  }
});

test("no delivery with an empty body causes an exception", async () => {
  const lengths = [
    {},
    { "content-length": "0" },
    { "content-length": "20", "content-encoding": "gzip" },
    { "content-length": "20", "transfer-encoding": "chunked" },
    { "content-length": "20, 20" },
    { "content-length": "-1" },
  ];
  for (const length of lengths) {
    const { verdict } = await verifying({ headers: { ...headers, ...length }, body: "" });
    assert.equal(verdict, "forged");
  }
  const text = { headers: { ...headers, "content-length": "15" }, body: "[object Object]" };
  assert.equal((await verifying(text)).verdict, "forged");
});

test("verify without its one object is explained", async () => {
  for (const wrong of [undefined, null, SECRET, []]) {
    await assert.rejects(verify(wrong as unknown as Delivery), {
      message: /one object: \{ secret/,
    });
  }
});

const wrongOnce: [what: string, change: Record<string, unknown>, says: RegExp][] = [
  ["no event", { event: undefined }, /event that `verify` returned/],
  [
    "the whole verification",
    { event: { verdict: "valid", event: { id: "evt_1" } } },
    /with its `id`/,
  ],
  ["no store", { store: undefined }, /store with `add`/],
  ["a Map as store", { store: new Map() }, /store with `add`/],
  ["a store that was not created", { store: createMemoryStore }, /createMemoryStore\(\)/],
  ["no handle", { handle: undefined }, /`handle`, a function/],
  ["a handle that was called already", { handle: Promise.resolve() }, /`handle`, a function/],
  ["a time in words", { underWayMs: "1m" }, /underWayMs as a number/],
  ["a time that is not a number", { rememberMs: NaN }, /rememberMs as a number/],
  ["a time without end", { rememberMs: Infinity }, /rememberMs as a number/],
];

for (const [what, change, says] of wrongOnce) {
  test(`handleOnce with ${what} is explained, and handles nothing`, async () => {
    const store = createMemoryStore();
    const handle = () => assert.fail("handled");
    const options = { store, event: { id: "evt_1" }, handle, ...change };
    await assert.rejects(handleOnce(options as Parameters<typeof handleOnce>[0]), {
      name: "TypeError",
      message: says,
    });
  });
}

test("handleOnce without its one object, and a memory store that remembers nothing, are explained", async () => {
  for (const options of [undefined, null] as unknown as Parameters<typeof handleOnce>[0][])
    await assert.rejects(handleOnce(options), { name: "TypeError", message: /^handleOnce needs/ });
  for (const maxEvents of [0, NaN, -1])
    assert.throws(() => createMemoryStore({ maxEvents }), {
      name: "TypeError",
      message: /at least/,
    });
});

test("a store whose add returns something else is explained, and loses no event", async () => {
  for (const answer of [undefined, "OK", true, 1]) {
    const store = { ...createMemoryStore(), add: () => Promise.resolve(answer) };
    const call = { store: store as unknown as EventStore, event: { id: "evt_1" }, handle: () => 0 };
    await assert.rejects(handleOnce(call), {
      name: "TypeError",
      message: /a store whose `add` returns/,
    });
  }
});
