// eslint-disable-next-line @typescript-eslint/no-restricted-imports -- Only `listen` loads this file.
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { Received } from "../receiver/receiver.ts";

/** Senders give up long before. */
const FORWARD_MS = 30_000;

/** They belong to the connection that a request came over. */
const OF_THE_CONNECTION = new Set([
  ...["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding"],
  ...["upgrade", "expect", "host", "content-length"],
]);

/** The parts of a received request that are forwarded. */
export type Forwarded = Pick<Received, "method" | "rawHeaders" | "body">;

/** Sends the same bytes and headers to another program. Resolves to the status of its answer, or to the code of the error. */
export type Forward = (request: Forwarded) => Promise<number | string>;

/** Requests that `stop` interrupts resolve to ABORT_ERR. */
export function createForward(target: URL, stop: AbortSignal): Forward {
  const start: typeof requestHttp = target.protocol === "https:" ? requestHttps : requestHttp;
  return ({ method, rawHeaders, body }) =>
    new Promise((resolve) => {
      const headers = forwardedHeaders(rawHeaders, target, body);
      const signal = AbortSignal.any([stop, AbortSignal.timeout(FORWARD_MS)]);
      const request = start(target, { method, headers, signal, agent: false }, (response) => {
        response.on("error", () => undefined).resume();
        resolve(response.statusCode ?? 0);
      });
      request.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      request.end(body);
    });
}

function forwardedHeaders(rawHeaders: string[], target: URL, body: Buffer): string[] {
  const kept = withoutHeaders(rawHeaders, OF_THE_CONNECTION);
  return [...kept, "Host", target.host, "Content-Length", String(body.length)];
}

/** `names` are in lower case. */
export function withoutHeaders(rawHeaders: string[], names: ReadonlySet<string>): string[] {
  return rawHeaders.filter((_, i) => !names.has((rawHeaders[i - (i % 2)] ?? "").toLowerCase()));
}
