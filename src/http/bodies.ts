import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyRequest } from "fastify";
import { PartnerError } from "../lib/errors.ts";
import type { App } from "./app.ts";

/**
 * Asks a client that waits with its body (`Expect: 100-continue`) for it, once the client is authenticated. A refused client
 * gets only the answer. Node then ends the connection, because the body may still come.
 */
export function askForBodies(app: App): void {
  const waiting = new WeakSet<IncomingMessage>();

  app.server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    waiting.add(request);
    app.server.emit("request", request, response);
  });
  app.addHook("preParsing", (request, reply, _payload, done) => {
    if (waiting.has(request.raw)) reply.raw.writeContinue();
    done();
  });
}

/**
 * Escapes the percent signs of a path that Fastify cannot decode. Fastify would answer it before any hook, so the request would
 * not be admitted, counted or logged.
 */
export function decodable(url: string): string {
  if (!url.includes("%")) return url;
  const [path = ""] = url.split("?", 1);
  try {
    decodeURI(path);
    return url;
  } catch {
    return url.replaceAll("%", "%25");
  }
}

const IDENTITY = "identity";
const CODED = new PartnerError("unsupported_media_type", "Send the body without Content-Encoding.");
const NOT_UTF8 = new PartnerError("malformed_request", "The body is not UTF-8.");

/** Takes the text of a body. */
type Take = (request: FastifyRequest, text: string, done: Done) => void;
type Done = (error: Error | null, body?: unknown) => void;

/**
 * Reads JSON bodies in UTF-8 (RFC 8259). Refuses other bytes, which would be replaced silently. Decompresses nothing. Ignores
 * unknown members.
 */
export function readJsonBodies(app: App): void {
  const parse = app.getDefaultJsonParser("remove", "remove");
  readTexts(app, (request, text, done) => void parse(request, text, done));
}

/** Passes the text of each JSON body to `take`. */
export function readTexts(app: App, take: Take): void {
  app.addContentTypeParser<Buffer>(
    "application/json",
    { parseAs: "buffer" },
    (request, body, done) => {
      const { "content-encoding": coding = IDENTITY } = request.headers;
      if (coding.toLowerCase() !== IDENTITY) done(CODED);
      else if (!isUtf8(body)) done(NOT_UTF8);
      else take(request, body.toString(), done);
    },
  );
}
