import { createServer } from "node:net";
import type { TestContext } from "node:test";
import { openPort } from "./free-port.ts";

/** Whether this Node.js can use the proxies of the environment. */
export const USES_PROXIES = process.allowedNodeEnvironmentFlags.has("--use-env-proxy");

/** A proxy that refuses everything, and variables by which all of Node.js uses it. `asked`: the first line of each request. */
export async function anEnvProxy(t: Pick<TestContext, "after">) {
  const asked: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (head) => {
      asked.push(head.toString("latin1").split("\r\n", 1)[0] ?? "");
      socket.end("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    });
  });
  const url = `http://127.0.0.1:${await openPort(t, server)}`;
  const variables = {
    ...{ NODE_USE_ENV_PROXY: "1", HTTP_PROXY: url, HTTPS_PROXY: url, NO_PROXY: "example.com" },
    ...{ http_proxy: url, https_proxy: url },
  };
  return { asked, variables };
}
