import http, { type IncomingHttpHeaders } from "node:http";
import https from "node:https";
import { buffer } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { Arrivals } from "./arrivals.ts";
import { certificate } from "./certificates.ts";
import { openPort } from "./free-port.ts";

/** A request that passed the tunnel, and its answer. */
interface Passed {
  headers: IncomingHttpHeaders;
  body: Buffer;
  status: number;
}

/** A tunnel in front of a receiver that speaks plain HTTP: an https address whose requests go to a port. */
export async function aTunnel(t: TestContext) {
  let port = 0;
  const passed = new Arrivals<Passed>();
  const { key, cert } = await certificate({
    hosts: ["localhost"],
    addresses: ["127.0.0.1"],
    kind: "good",
  });

  const server = https.createServer({ key, cert }, (request, response) => {
    const { headers } = request;
    void buffer(request).then(async (body) => {
      const status = await ask({ host: "127.0.0.1", port, method: "POST", headers }, body);
      response.writeHead(status).end();
      passed.add({ headers, body, status });
    });
  });
  return {
    url: `https://127.0.0.1:${await openPort(t, server)}/hooks`,
    passed,
    leadTo: (to: number) => {
      port = to;
    },
  };
}

/** The status of the answer. 502 if there is none. */
function ask(options: http.RequestOptions, body: Buffer): Promise<number> {
  return new Promise((resolve) => {
    http
      .request({ ...options, agent: false }, (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 502);
      })
      .on("error", () => resolve(502))
      .end(body);
  });
}
