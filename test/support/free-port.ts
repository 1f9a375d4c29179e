import { randomInt } from "node:crypto";
import { once } from "node:events";
import type { Server as HttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import type { TestContext } from "node:test";

/** A port of 127.0.0.1 that is free now. The system gives none of these to a client or for port 0. */
export async function freePort(): Promise<number> {
  const port = randomInt(15_000, 30_000);
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return freePort();
  }
  server.close();
  await once(server, "close");
  return port;
}

/** Opens a server on a free port of 127.0.0.1 until the test ends. Returns the port. */
export async function openPort(t: Pick<TestContext, "after">, server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    (server as Partial<HttpServer>).closeAllConnections?.();
  });
  return (server.address() as AddressInfo).port;
}
