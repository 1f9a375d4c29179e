// Depends on: examples, packages, src/webhook, test/webhook
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { ROOT } from "../support/root.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";
import { aDelivery, SECRET } from "./delivery.ts";

const run = promisify(execFile);
const QUIET = ["--no-audit", "--no-fund", "--loglevel=error"];

/** A folder with pinned frameworks and the library as a package. */
async function aProject(t: TestContext, ...packages: string[]): Promise<string> {
  t.after(endAll); // Before the folder is removed.
  const folder = await aTemporaryFolder(t);
  await writeFile(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  await run("npm", ["install", ...QUIET, ...packages], { cwd: folder });
  const library = join(folder, "node_modules/@partner-api/webhook");
  await mkdir(library, { recursive: true });
  await cp(join(ROOT, "dist/src/webhook"), library, { recursive: true });
  const manifest = { name: "@partner-api/webhook", type: "module", exports: "./index.js" };
  await writeFile(join(library, "package.json"), JSON.stringify(manifest));
  return folder;
}

const running: ChildProcess[] = [];

async function endAll() {
  for (const child of running.splice(0)) {
    const ended = once(child, "exit");
    process.kill(-(child.pid ?? 0), "SIGKILL"); // Next.js has children of its own.
    await ended;
  }
}

/** Starts a program that prints the port that it listens on, as "… <port>". */
async function started(command: string, args: string[], cwd: string): Promise<string> {
  const settings = { PORT: "0", PARTNER_SECRET: SECRET, NEXT_TELEMETRY_DISABLED: "1" };
  // With CI set, Vite colours its output, and the port in bold.
  const env = { ...process.env, ...settings, NO_COLOR: "1" };
  const child = spawn(command, args, {
    cwd,
    env,
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
  });
  running.push(child);
  for await (const line of createInterface(child.stdout)) {
    const [, port] = /(?:localhost:|127\.0\.0\.1:|listening on )(\d+)/.exec(line) ?? [];
    if (port !== undefined) return `http://127.0.0.1:${port}`;
  }
  throw new Error(`${command} ended without a port`);
}

async function post(url: string, change: Record<string, string> = {}) {
  const { headers, body } = aDelivery();
  const response = await fetch(url, { method: "POST", headers: { ...headers, ...change }, body });
  return { status: response.status, text: await response.text() };
}

for (const [name, file, ...packages] of [
  ["Express 4", "express.mjs", "express@4.21.2"],
  ["Express 5", "express.mjs", "express@5.1.0"],
  ["Hono 4", "hono.mjs", "hono@4.9.8", "@hono/node-server@1.19.2"],
  ["Fastify 5", "fastify.mjs", "fastify@5.6.0"],
] as const) {
  test(`the receiver of the docs accepts genuine deliveries in ${name}, and refuses others`, async (t) => {
    const folder = await aProject(t, ...packages);
    await cp(join(ROOT, "examples", file), join(folder, file));
    const base = await started(process.execPath, [file], folder);
    assert.equal((await post(`${base}/hooks`)).status, 204);
    assert.deepEqual(await post(`${base}/hooks`, { "X-VC-Signature": "sha256=00" }), {
      status: 400,
      text: "forged",
    });
  });
}

/** The start of a module whose `say` returns a verdict, or the sentence of an error. */
const SAY = `import { verify } from "@partner-api/webhook";
const secret = process.env.PARTNER_SECRET;
const say = (headers, body) =>
  verify({ secret, headers, body }).then(({ verdict }) => verdict, ({ message }) => message);
`;

/** Each handler answers what `verify` says of right and of wrong arguments. */
const SERVERS: [
  name: string,
  packages: string[],
  server: string,
  explained: Record<string, RegExp>,
][] = [
  [
    "Hono 4",
    ["hono@4.9.8", "@hono/node-server@1.19.2"],
    `import { Hono } from "hono";
      import { serve } from "@hono/node-server";
      const app = new Hono();
      app.post("/hooks", async (c) => {
        const body = await c.req.arrayBuffer();
        return c.json({
          right: await say(c.req.header(), body), raw: await say(c.req.raw.headers, body),
          context: await say(c, body), request: await say(c.req, body), function: await say(c.req.header, body),
          promise: await say(c.req.header(), c.req.text()), parsed: await say(c.req.header(), await c.req.json()),
          indented: await say(c.req.header(), JSON.stringify(await c.req.json(), null, 2)),
        });
      });
      serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => console.log("listening on " + port));`,
    {
      context: /got the framework's context/,
      request: /their raw is an object/,
      function: /got a function/,
      promise: /got a promise: await it/,
      parsed: /already parsed/,
      indented: /got \d+ where \d+ arrived/,
    },
  ],
  ...["4.21.2", "5.1.0"].map((version): (typeof SERVERS)[number] => [
    `Express ${version}`,
    [`express@${version}`],
    `import express from "express";
      const app = express();
      const latin = express.text({ type: () => true, defaultCharset: "latin1" });
      const answer = (route, parser, pick) =>
        app.post(route, parser, async (req, res) => res.json(await pick(req)));
      answer("/hooks", express.raw({ type: () => true }), async (req) => ({
        right: await say(req.headers, req.body), express: await say(req, req.body), list: await say(req.rawHeaders, req.body),
        base64: await say(req.headers, req.body.toString("base64")), stream: await say(req.headers, req),
      }));
      answer("/parsed", express.json(), async (req) => ({
        parsed: await say(req.headers, req.body),
        indented: await say(req.headers, JSON.stringify(req.body, null, 2)),
      }));
      answer("/unparsed", express.urlencoded({ extended: false }), async (req) => ({ unparsed: await say(req.headers, req.body) }));
      const server = app.listen(0, "127.0.0.1", () => console.log("listening on " + server.address().port));`,
    {
      list: /got an array/,
      base64: /got \d+ where \d+ arrived/,
      stream: /the body was not read/,
    },
  ]),
  [
    "Fastify 5",
    ["fastify@5.6.0"],
    `import fastify from "fastify";
      const app = fastify();
      app.post("/hooks", async (request) => ({
        parsed: await say(request.headers, request.body), request: await say(request, request.raw),
        stream: await say(request.headers, request.raw),
      }));
      app.register(async (inner) => {
        inner.removeAllContentTypeParsers();
        inner.addContentTypeParser("*", { parseAs: "buffer" }, (_, body, done) => done(null, body));
        inner.post("/right", async (request) => ({ right: await say(request.headers, request.body) }));
      });
      await app.listen({ port: 0, host: "127.0.0.1" });
      console.log("listening on " + app.server.address().port);`,
    {
      parsed: /already parsed/,
      request: /got the whole request/,
      stream: /the body was not read/,
    },
  ],
  [
    "Koa 3",
    ["koa@3.0.1", "koa-bodyparser@4.4.1"],
    `import Koa from "koa";
      import bodyParser from "koa-bodyparser";
      import { buffer } from "node:stream/consumers";
      const app = new Koa();
      const parser = bodyParser();
      app.use((ctx, next) => ctx.path === "/parsed" ? parser(ctx, next) : next());
      app.use(async (ctx) => {
        if (ctx.path === "/parsed") {
          const { body, rawBody } = ctx.request;
          ctx.body = { parsed: await say(ctx.headers, body), rawBody: await say(ctx.headers, rawBody), context: await say(ctx, "") };
          return;
        }
        if (ctx.path !== "/hooks") return;
        const body = await buffer(ctx.req);
        ctx.body = {
          right: await say(ctx.headers, body), byContext: await say(ctx, body), node: await say(ctx.req, body),
          list: await say(ctx.req.rawHeaders, body), stream: await say(ctx.headers, ctx.req), unset: await say(ctx.headers, ctx.request.body),
        };
      });
      const server = app.listen(0, "127.0.0.1", () => console.log("listening on " + server.address().port));`,
    {
      rawBody: /^valid$/,
      byContext: /^valid$/,
      parsed: /already parsed/,
      context: /got 0 where \d+ arrived/,
      node: /got the whole request/,
      list: /got an array/,
      stream: /the body was not read/,
      unset: /the body is missing/,
    },
  ],
  [
    "NestJS 11",
    [
      ...["core", "common", "platform-express"].map((name) => `@nestjs/${name}@11.1.6`),
      ...["reflect-metadata@0.2.2", "rxjs@7.8.2"],
    ],
    `import "reflect-metadata";
      import { Body, Controller, Headers, HttpCode, Module, Post, Req } from "@nestjs/common";
      import { NestFactory } from "@nestjs/core";
      class Hooks {
        async receive(request, body, headers, one) {
          return {
            right: await say(headers, request.rawBody), raw: await say(request.headers, request.rawBody),
            parsed: await say(headers, body), header: await say(one, request.rawBody), off: await say(headers, undefined),
            stream: await say(headers, request), consumed: await say(headers, ""),
          };
        }
      }
      const of = [Hooks.prototype, "receive"];
      [Req(), Body(), Headers(), Headers("x-vc-signature")].forEach((decorate, at) => decorate(...of, at));
      for (const decorate of [Post("hooks"), HttpCode(200)]) decorate(...of, Object.getOwnPropertyDescriptor(...of));
      Controller()(Hooks);
      class App {}
      Module({ controllers: [Hooks] })(App);
      const app = await NestFactory.create(App, { rawBody: true, logger: false });
      await app.listen(0, "127.0.0.1");
      console.log("listening on " + app.getHttpServer().address().port);`,
    {
      raw: /^valid$/,
      parsed: /already parsed/,
      header: /got a string/,
      off: /the body is missing.*rawBody: true.*NestJS/,
      stream: /the body was not read/,
      consumed: /got 0 where \d+ arrived/,
    },
  ],
  [
    "h3 1",
    ["h3@1.15.4"],
    `import { createServer } from "node:http";
      import { createApp, createRouter, eventHandler, getHeaders, readBody, readRawBody, toNodeListener } from "h3";
      const router = createRouter();
      router.post("/hooks", eventHandler(async (event) => {
        const body = await readRawBody(event, false);
        return {
          right: await say(event.headers, body), names: await say(getHeaders(event), body), text: await say(event.headers, await readRawBody(event)),
          event: await say(event, body), parsed: await say(event.headers, await readBody(event)),
          promise: await say(event.headers, readRawBody(event)), node: await say(event.node, body), context: await say(event.context, body),
        };
      }));
      const app = createApp().use(router);
      const server = createServer(toNodeListener(app)).listen(0, "127.0.0.1", () => console.log("listening on " + server.address().port));`,
    {
      names: /^valid$/,
      text: /^valid$/,
      event: /got the whole request/,
      parsed: /already parsed/,
      promise: /got a promise: await it/,
      node: /got the framework's context/,
    },
  ],
  [
    "Elysia 1",
    [
      "elysia@1.4.9",
      "@hono/node-server@1.19.2",
      "@sinclair/typebox@0.34.41",
      "openapi-types@12.1.3",
    ],
    `import { Elysia } from "elysia";
      import { serve } from "@hono/node-server";
      const app = new Elysia()
        .post("/hooks", async (context) => {
          const { request, headers, set } = context;
          const body = await request.arrayBuffer();
          return {
            right: await say(request.headers, body), names: await say(headers, body), context: await say(context, body),
            request: await say(request, body), view: await say(headers, new DataView(body)), unset: await say(headers, context.body),
          };
        }, { parse: "none" })
        .post("/parsed", async ({ headers, body, request }) => ({ parsed: await say(headers, body) }));
      serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => console.log("listening on " + port));`,
    {
      names: /^valid$/,
      view: /^valid$/,
      context: /got the whole request/,
      request: /got the whole request/,
      unset: /the body is missing/,
      parsed: /already parsed/,
    },
  ],
];

for (const [name, packages, server, explained] of SERVERS) {
  test(`${name}: what its handlers have at hand verifies or is explained`, async (t) => {
    const folder = await aProject(t, ...packages);
    await writeFile(join(folder, "server.mjs"), SAY + server);
    const base = await started(process.execPath, ["server.mjs"], folder);
    const said: Record<string, string> = {};
    for (const path of ["hooks", "parsed", "unparsed", "right"]) {
      const { status, text } = await post(`${base}/${path}`);
      if (status === 200) Object.assign(said, JSON.parse(text));
    }
    assert.equal(said["right"], "valid", JSON.stringify(said));
    assert.ok(!Object.values(said).some((verdict) => verdict === "forged"), JSON.stringify(said));
    for (const [what, sentence] of Object.entries(explained))
      assert.match(said[what] ?? "", sentence, what);
  });
}

const ROUTE = `import { headers } from "next/headers";
${SAY}
export async function POST(request) {
  const body = await request.arrayBuffer();
  return Response.json({
    right: await say(request.headers, body),
    awaited: await say(await headers(), body),
    promise: await say(headers(), body),
    request: await say(request, body),
    unread: await say(request.headers, request.clone),
  });
}`;

const PAGE = `import { buffer } from "node:stream/consumers";
${SAY}
export const config = { api: { bodyParser: %PARSES% } };
export default async function handler(request, response) {
  if (%PARSES%) return response.json({ parsed: await say(request.headers, request.body) });
  const body = await buffer(request);
  response.json({
    right: await say(request.headers, body),
    request: await say(request, body),
    cookies: await say(request.cookies, body),
    unset: await say(request.headers, request.body),
    consumed: await say(request.headers, await buffer(request)),
  });
}`;

for (const version of ["15.5.4", "16.0.0"]) {
  test(`Next.js ${version}: request.headers verify, and a promise of headers is explained`, async (t) => {
    const folder = await aProject(t, `next@${version}`, "react@19.1.1", "react-dom@19.1.1");
    await mkdir(join(folder, "app/hooks"), { recursive: true });
    await writeFile(join(folder, "app/hooks/route.js"), ROUTE);
    const layout = "export default ({ children }) => <html><body>{children}</body></html>;";
    await writeFile(join(folder, "app/layout.js"), layout);
    await mkdir(join(folder, "pages/api"), { recursive: true });
    for (const [file, parses] of [
      ["raw.js", "false"],
      ["parsed.js", "true"],
    ] as const)
      await writeFile(join(folder, "pages/api", file), PAGE.replaceAll("%PARSES%", parses));
    const args = ["node_modules/next/dist/bin/next", "dev", "-H", "127.0.0.1", "-p", "0"];
    const base = await started(process.execPath, args, folder);
    const { text } = await post(`${base}/hooks`);
    const said = JSON.parse(text) as Record<string, string>;
    assert.equal(said["right"], "valid");
    assert.equal(said["awaited"], "valid");
    assert.match(said["promise"] ?? "", /got a promise: await it, as await headers\(\)/);
    assert.match(said["request"] ?? "", /got the whole request/);
    assert.match(said["unread"] ?? "", /got a function/);

    const { text: raw } = await post(`${base}/api/raw`);
    const { text: parsed } = await post(`${base}/api/parsed`);
    const page = JSON.parse(raw) as Record<string, string>;
    assert.equal(page["right"], "valid");
    assert.match(page["request"] ?? "", /got the whole request/);
    assert.match(page["unset"] ?? "", /the body is missing/);
    assert.match(page["consumed"] ?? "", /got 0 where \d+ arrived/);
    assert.match((JSON.parse(parsed) as typeof page)["parsed"] ?? "", /already parsed/);
  });
}

interface Framework {
  name: string;
  packages: string[];
  files: Record<string, string>;
  command: string[];
  explained: Record<string, RegExp>;
}

const VITE = "vite@7.1.6";

const FRAMEWORKS: Framework[] = [
  {
    name: "SvelteKit 2",
    packages: ["@sveltejs/kit@2.43.2", "svelte@5.39.4", "@sveltejs/vite-plugin-svelte@6.2.0", VITE],
    files: {
      "src/app.html": "%sveltekit.head%%sveltekit.body%",
      "vite.config.js": `import { sveltekit } from "@sveltejs/kit/vite";
        export default { plugins: [sveltekit()] };`,
      "src/routes/hooks/+server.js": `${SAY}
        export async function POST(event) {
          const { request, cookies, setHeaders } = event;
          const body = await request.arrayBuffer();
          return Response.json({
            right: await say(request.headers, body), event: await say(event, body),
            request: await say(request, body), cookies: await say(cookies, body),
            setHeaders: await say(setHeaders, body), stream: await say(request.headers, request.body),
          });
        }`,
    },
    command: ["vite/bin/vite.js", "dev", "--host", "127.0.0.1", "--port", "0"],
    explained: {
      event: /got the framework's context/,
      request: /got the whole request/,
      cookies: /got cookies/,
      setHeaders: /got a function/,
      stream: /the body was not read/,
    },
  },
  {
    name: "React Router 7",
    packages: [
      ...["react-router", "@react-router/dev", "@react-router/node"].map((one) => `${one}@7.9.1`),
      ...["@react-router/serve@7.9.1", "react@19.1.1", "react-dom@19.1.1", "isbot@5.1.30", VITE],
    ],
    files: {
      "vite.config.js": `import { reactRouter } from "@react-router/dev/vite";
        export default { plugins: [reactRouter()] };`,
      "app/root.jsx": "export default () => <html />;",
      "app/routes.js": `import { route } from "@react-router/dev/routes";
        export default [route("hooks", "hooks.js")];`,
      "app/hooks.js": `${SAY}
        export async function action(given) {
          const { request } = given;
          const body = await request.arrayBuffer();
          return Response.json({
            right: await say(request.headers, body), arguments: await say(given, body),
            request: await say(request, body), stream: await say(request.headers, request.body),
          });
        }`,
    },
    command: ["@react-router/dev/bin.js", "dev", "--host", "127.0.0.1", "--port", "0"],
    explained: {
      arguments: /got the framework's context/,
      request: /got the whole request/,
      stream: /the body was not read/,
    },
  },
];

for (const { name, packages, files, command, explained } of FRAMEWORKS) {
  test(`${name}: the headers of its request verify, and what its handlers get besides is explained`, async (t) => {
    const folder = await aProject(t, ...packages);
    for (const [path, text] of Object.entries(files)) {
      await mkdir(join(folder, path, ".."), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    const [program = "", ...args] = command;
    const path = join(folder, "node_modules", program);
    const base = await started(process.execPath, [path, ...args], folder);
    const { text } = await post(`${base}/hooks`);
    const said = JSON.parse(text) as Record<string, string>;
    assert.equal(said["right"], "valid", text);
    for (const [what, sentence] of Object.entries(explained))
      assert.match(said[what] ?? "", sentence, what);
  });
}
