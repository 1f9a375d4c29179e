// Depends on: packages, test/webhook
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { requireProgram } from "../support/required.ts";
import { ROOT } from "../support/root.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";
import { aDelivery, SECRET } from "./delivery.ts";

const run = promisify(execFile);

/** Each prints the verdicts, or the error's text, of one line of arguments. */
const PYTHON = `
import asyncio, hashlib, hmac, json, os, time
from partner_api_webhook import verify
SECRET, BODY = os.environ["PARTNER_SECRET"], b'{"a":1}'
def signed():
    at = str(int(time.time() * 1000))
    mac = hmac.new(SECRET.encode(), at.encode() + b"." + BODY, hashlib.sha256).hexdigest()
    return {"X-VC-Timestamp": at, "X-VC-Signature": f"sha256={mac}"}
def say(headers, body):
    try:
        return verify([SECRET], headers=headers, body=body)
    except (TypeError, ValueError) as error:
        return str(error)
def flask():
    import flask
    app = flask.Flask("x")
    @app.post("/")
    def hooks():
        r = flask.request
        return [say(r.headers, r.get_data()), say(r.environ, b""), say(r.headers, r.get_json()), say(r, b""), say(r.headers, r.stream.read())]
    return app.test_client().post("/", data=BODY, headers={**signed(), "Content-Type": "application/json"}).json
def django():
    import django
    from django.conf import settings
    settings.configure()
    django.setup()
    from django.test import RequestFactory
    r = RequestFactory().post("/", data=BODY, content_type="application/json", headers=signed())
    return [say(r.headers, r.body), say(r.META, r.body), say(r.headers, r.POST), say(r, r.body)]
def fastapi():
    from fastapi import FastAPI, Request
    from starlette.testclient import TestClient
    app = FastAPI()
    @app.post("/")
    async def hooks(request: Request):
        unread = request.body()
        said = [say(request.headers, await request.body()), say(request.headers.raw, b""), say(request.headers, await request.json()), say(request, b""), say(request.headers, unread)]
        unread.close()
        return said
    return TestClient(app).post("/", content=BODY, headers=signed()).json()
def aiohttp():
    from aiohttp import web
    from aiohttp.test_utils import TestClient, TestServer
    async def hooks(r):
        unread = r.read()
        said = [say(r.headers, await r.read()), say(r.raw_headers, b""), say(r.headers, await r.json()), say(r.headers, r.content), say(r, b""), say(r.headers, unread), say(r.headers, await r.text())]
        unread.close()
        return web.json_response(said)
    async def main():
        app = web.Application()
        app.router.add_post("/", hooks)
        async with TestClient(TestServer(app)) as client:
            return await (await client.post("/", data=BODY, headers=signed())).json()
    return asyncio.run(main())
def sanic():
    from sanic import Sanic, json as answer
    app = Sanic("x")
    @app.post("/")
    async def hooks(r):
        return answer([say(r.headers, r.body), say(r.headers, r.json), say(r, r.body), say(r.headers, r.stream), say(r.headers.items, r.body)])
    return app.test_client.post("/", content=BODY, headers=signed())[1].json
def tornado():
    from tornado.testing import AsyncHTTPTestCase
    from tornado.web import Application, RequestHandler
    class Hooks(RequestHandler):
        def post(self):
            r = self.request
            self.write({"said": [say(r.headers, r.body), say(r, r.body), say(r.headers, json.loads(r.body)), say(r.headers, b""), say(r.headers.get_all(), r.body)]})
    class Case(AsyncHTTPTestCase):
        def get_app(self):
            return Application([("/", Hooks)])
        def runTest(self):
            self.said = json.loads(self.fetch("/", method="POST", body=BODY, headers=signed()).body)["said"]
    case = Case()
    case.debug()
    return case.said
print(json.dumps({"flask": flask(), "django": django(), "fastapi": fastapi(), "aiohttp": aiohttp(), "sanic": sanic(), "tornado": tornado()}))
`;

test("Flask, Django, FastAPI, aiohttp, Sanic and Tornado: request.headers and the raw body verify, and other arguments are explained", async (t) => {
  if (!(await requireProgram(t, "python3", ["-m", "venv", "-h"]))) return;
  const folder = await aTemporaryFolder(t);
  await run("python3", ["-m", "venv", folder]);
  const python = join(folder, "bin/python");
  const pinned = [
    ...["flask==3.1.2", "django==5.2.6", "fastapi==0.117.1", "httpx==0.28.1"],
    ...["aiohttp==3.14.5", "sanic==25.3.0", "sanic-testing==24.6.0", "tornado==6.6.1"],
  ];
  await run(python, ["-m", "pip", "install", "-q", ...pinned]);
  const PYTHONPATH = join(ROOT, "packages/python/src");
  const env = { ...process.env, PYTHONPATH, PARTNER_SECRET: SECRET, PYTHONDONTWRITEBYTECODE: "1" };
  const { stdout } = await run(python, ["-W", "ignore", "-c", PYTHON], { env });
  const said = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Record<string, string[]>; // Sanic prints, too.
  const explained: Record<string, RegExp[]> = {
    flask: [
      /request\.META/,
      /already parsed, to dict/,
      /got LocalProxy/,
      /got 0 where 7 arrived: it was read/,
    ],
    django: [/request\.META/, /already parsed, to QueryDict/, /whole request/],
    fastapi: [/bytes of ASGI/, /already parsed, to dict/, /whole request/, /got an awaitable/],
    aiohttp: [
      ...[/bytes of ASGI/, /already parsed, to dict/, /was not read/, /whole request/],
      ...[/got an awaitable/, /got text/],
    ],
    sanic: [/already parsed, to dict/, /whole request/, /was not read/, /got .*method/],
    tornado: [/whole request/, /already parsed, to dict/, /got 0 where 7 arrived/, /^valid$/],
  };
  for (const [name, errors] of Object.entries(explained)) {
    const [right, ...wrong] = said[name] ?? [];
    assert.equal(right, "valid", name);
    assert.equal(wrong.length, errors.length);
    errors.forEach((error, at) => {
      assert.match(wrong[at] ?? "", error);
    });
  }
});

const GO = `package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/labstack/echo/v4"
	"partner-api.example/webhook"
)

var secrets = []string{os.Getenv("PARTNER_SECRET")}

// said returns the verdict, or the sentence of the panic.
func said(header http.Header, body []byte) (text string) {
	defer func() {
		if fault := recover(); fault != nil {
			text = fmt.Sprint(fault)
		}
	}()
	return string(webhook.Verify(secrets, header, body, time.Now()))
}

func say(w http.ResponseWriter, header http.Header, body []byte) { fmt.Fprint(w, said(header, body)) }

func read(w http.ResponseWriter, r *http.Request) []byte {
	body, _ := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	return body
}

func indented(body []byte) []byte {
	var out bytes.Buffer
	json.Indent(&out, body, "", "  ")
	return out.Bytes()
}

func before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		next.ServeHTTP(w, r)
	})
}

func main() {
	handlers := map[string]http.HandlerFunc{
		"/right":    func(w http.ResponseWriter, r *http.Request) { say(w, r.Header, read(w, r)) },
		"/trailer":  func(w http.ResponseWriter, r *http.Request) { say(w, r.Trailer, read(w, r)) },
		"/twice":    func(w http.ResponseWriter, r *http.Request) { read(w, r); say(w, r.Header, read(w, r)) },
		"/indented": func(w http.ResponseWriter, r *http.Request) { say(w, r.Header, indented(read(w, r))) },
		"/limited":  func(w http.ResponseWriter, r *http.Request) { body, _ := io.ReadAll(io.LimitReader(r.Body, 9)); say(w, r.Header, body) },
	}
	mux, router := http.NewServeMux(), chi.NewRouter()
	router.Use(middleware.Recoverer)
	for path, handler := range handlers {
		mux.Handle(path, handler)
		router.Post(path, handler)
	}
	router.With(before).Post("/before", handlers["/right"])
	mux.Handle("/before", before(handlers["/right"]))
	gin.SetMode(gin.ReleaseMode)
	gins, echos, fibers := gin.New(), echo.New(), fiber.New()
	gins.POST("/right", func(c *gin.Context) { body, _ := c.GetRawData(); say(c.Writer, c.Request.Header, body) })
	gins.POST("/twice", func(c *gin.Context) {
		var event map[string]any
		c.ShouldBindJSON(&event)
		body, _ := c.GetRawData()
		say(c.Writer, c.Request.Header, body)
	})
	echos.POST("/right", func(c echo.Context) error { return c.String(200, said(c.Request().Header, read(c.Response(), c.Request()))) })
	echos.POST("/twice", func(c echo.Context) error {
		var event map[string]any
		c.Bind(&event)
		return c.String(200, said(c.Request().Header, read(c.Response(), c.Request())))
	})
	fibers.Post("/right", func(c *fiber.Ctx) error { return c.SendString(said(c.GetReqHeaders(), c.Body())) })
	fibers.Post("/twice", func(c *fiber.Ctx) error { return c.SendString(said(c.GetReqHeaders(), nil)) })
	var delivery struct {
		Headers map[string]string
		Body    string
	}
	json.Unmarshal([]byte(os.Args[1]), &delivery)
	servers := map[string]http.Handler{"net/http": mux, "chi": router, "Gin": gins, "Echo": echos, "Fiber": adaptor.FiberApp(fibers)}
	results := map[string]map[string]string{}
	for name, handler := range servers {
		results[name] = map[string]string{}
		server := httptest.NewServer(handler)
		for _, path := range []string{"/right", "/trailer", "/twice", "/indented", "/limited", "/before"} {
			request, _ := http.NewRequest("POST", server.URL+path, strings.NewReader(delivery.Body))
			for key, value := range delivery.Headers {
				request.Header.Set(key, value)
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				panic(err)
			}
			text, _ := io.ReadAll(response.Body)
			results[name][path] = string(text)
		}
		server.Close()
	}
	json.NewEncoder(os.Stdout).Encode(results)
}
`;

test("net/http, chi, Gin, Echo and Fiber: r.Header and the body verify, and other arguments are explained", async (t) => {
  if (!(await requireProgram(t, "go", ["version"]))) return;
  const cwd = await aTemporaryFolder(t);
  await writeFile(join(cwd, "main.go"), GO);
  const ours = join(ROOT, "packages/go");
  const needs = `require (
	github.com/gin-gonic/gin v1.10.1
	github.com/go-chi/chi/v5 v5.2.3
	github.com/gofiber/fiber/v2 v2.52.9
	github.com/labstack/echo/v4 v4.13.4
	partner-api.example/webhook v0.0.0
)`;
  const replaced = `replace partner-api.example/webhook => ${ours}`;
  await writeFile(join(cwd, "go.mod"), `module receiver\n\ngo 1.22\n\n${needs}\n\n${replaced}\n`);
  const env = { ...process.env, PARTNER_SECRET: SECRET, GOFLAGS: "-mod=mod" };
  const { headers, body } = aDelivery();
  const delivery = JSON.stringify({ headers, body: Buffer.from(body).toString() });
  const { stdout } = await run("go", ["run", ".", delivery], { cwd, env });
  const said = JSON.parse(stdout) as Record<string, Record<string, string>>;
  for (const name of ["Gin", "Echo", "Fiber"]) {
    assert.equal(said[name]?.["/right"], "valid", name);
    assert.match(said[name]["/twice"] ?? "", /not what arrived.*io\.ReadAll/, name);
  }
  for (const name of ["net/http", "chi"]) {
    const { "/right": right, "/limited": limited, ...wrong } = said[name] ?? {};
    assert.deepEqual([right, limited], ["valid", "forged"], name);
    assert.match(wrong["/trailer"] ?? "", /pass r\.Header/);
    for (const path of ["/twice", "/before", "/indented"])
      assert.match(wrong[path] ?? "", /not what arrived.*io\.ReadAll/, `${name} ${path}`);
  }
});
