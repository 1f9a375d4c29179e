"""A server of the standard names, or an application for those that have a program of their own. PORT, KEY, CERT, and IDLE or none."""

import asyncio
import os
import sys

HOST, PORT, KEY, CERT = "127.0.0.2", int(os.environ["PORT"]), os.environ["KEY"], os.environ["CERT"]
IDLE = int(os.environ["IDLE"]) if os.environ.get("IDLE") else None


async def asgi(scope, receive, send):
    if scope["type"] != "http":
        raise NotImplementedError
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


def wsgi(environ, start_response):
    environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]


def context():
    import ssl

    made = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    made.load_cert_chain(CERT, KEY)
    return made


def cheroot():
    from cheroot.ssl.builtin import BuiltinSSLAdapter
    from cheroot.wsgi import Server

    server = Server((HOST, PORT), wsgi, **({} if IDLE is None else {"timeout": IDLE}))
    server.ssl_adapter = BuiltinSSLAdapter(CERT, KEY)
    server.start()


def twisted():
    from twisted.internet import endpoints, reactor
    from twisted.web.resource import Resource
    from twisted.web.server import Site

    class Hook(Resource):
        isLeaf = True

        def render_POST(self, request):
            return b"ok"

    site = Site(Hook(), **({} if IDLE is None else {"timeout": IDLE}))
    at = f"ssl:{PORT}:privateKey={KEY}:certKey={CERT}:interface={HOST}"
    endpoints.serverFromString(reactor, at).listen(site)
    reactor.run()


def aiohttp():
    from aiohttp import web

    async def hook(request):
        await request.read()
        return web.Response(text="ok")

    app = web.Application()
    app.router.add_post("/", hook)
    idle = {} if IDLE is None else {"keepalive_timeout": IDLE}
    web.run_app(app, host=HOST, port=PORT, ssl_context=context(), print=None, **idle)


def tornado():
    from tornado.httpserver import HTTPServer
    from tornado.web import Application, RequestHandler

    class Hook(RequestHandler):
        def post(self):
            self.write("ok")

    async def main():
        idle = {} if IDLE is None else {"idle_connection_timeout": IDLE}
        HTTPServer(Application([("/", Hook)]), ssl_options=context(), **idle).listen(PORT, HOST)
        await asyncio.Event().wait()

    asyncio.run(main())


def sanic():
    from sanic import Sanic, text

    app = Sanic("receiver")

    @app.post("/")
    async def hook(_):
        return text("ok")

    if IDLE is not None:
        app.config.KEEP_ALIVE_TIMEOUT = IDLE
    app.run(HOST, PORT, ssl={"cert": CERT, "key": KEY}, single_process=True, motd=False)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
