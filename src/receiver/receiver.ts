import { once } from "node:events";
import type { IncomingHttpHeaders } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { LocalCertificates } from "./certificates.ts";

/** A delivery as it arrived. */
export interface Received {
  headers: IncomingHttpHeaders;
  /** The raw bytes, which alone can be verified. */
  body: Buffer;
}

/** Decides the status of the answer. */
export type Answer = (delivery: Received) => number;

/** Starts an HTTPS receiver on this machine's loopback, for trying deliveries out. */
export async function startReceiver(
  { key, cert }: LocalCertificates,
  answer: Answer,
): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer({ key, cert }, (request, response) => {
    void buffer(request).then((body) => {
      response.writeHead(answer({ headers: request.headers, body })).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  const { port } = server.address() as AddressInfo;
  return {
    url: `https://localhost:${port}/hooks`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
