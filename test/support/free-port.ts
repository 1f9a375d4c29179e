import { once } from "node:events";
import type { Server as HttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import type { TestContext } from "node:test";

/** A port of 127.0.0.1 that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
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
