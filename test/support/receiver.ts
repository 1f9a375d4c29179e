import { once } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import https from "node:https";
import { type AddressInfo, createServer, isIP, type Socket } from "node:net";
import { type SecureVersion, TLSSocket } from "node:tls";
import type { TestContext } from "node:test";
import { buffer } from "node:stream/consumers";
import { Arrivals } from "./arrivals.ts";
import { certificate, type CertificateOptions, testAuthority } from "./certificates.ts";
import { status } from "./receiver-scripts.ts";

/** A request as it came in. */
export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  at: Date;
  /** The server name of the handshake. */
  servername: string | false;
  /** The TCP connection of the request, and its number of requests so far. */
  connection: Socket;
  requestsOnConnection: number;
}

/** The receiver's reaction to a request. Raw bytes go to `socket`, without HTTP. */
export type Script = (exchange: {
  received: Received;
  response: ServerResponse;
  socket: Socket;
}) => void;

export interface ReceiverOptions {
  /** Its address. Default: 127.0.0.2. */
  address?: string;
  port?: number;
  /** The host in its URLs and its certificate. Default: the address. */
  host?: string;
  certificate?: CertificateOptions["kind"];
  /** Other names for its certificate. */
  certifiedHosts?: string[];
  /** True to refuse senders without a client certificate. */
  wantsCertificate?: boolean;
  /** Its only version of TLS. Default: all current ones. */
  tlsVersion?: SecureVersion;
  /** Its key exchange. Default: all current ones. */
  ecdhCurve?: string;
  /** The treatment of a new connection before TLS. Default: the handshake. */
  accept?: (socket: Socket, secure: () => void) => void;
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/**
 * A receiver of deliveries with the test's scripts, over real HTTPS on loopback. Its default answer is 200.
 * Without a test context, the caller closes it.
 */
export async function startReceiver(t: TestContext | undefined, options: ReceiverOptions = {}) {
  const { address = "127.0.0.2", certificate: kind = "good" } = options;
  const host = options.host ?? address;
  const hosts = options.certifiedHosts ?? [host];
  const { key, cert } = await certificate({
    hosts: hosts.filter((name) => isIP(name) === 0),
    addresses: hosts.filter((name) => isIP(name) !== 0),
    kind,
  });

  const requests = new Arrivals<Received>();
  const connections: Socket[] = [];
  const served = new Map<Socket, number>();
  let scripts: Script[] = [status(200)];
  let unread = 0;

  const isStrict = options.wantsCertificate ?? false;
  const { tlsVersion: only } = options;
  const web = https.createServer(
    {
      key,
      cert,
      requestCert: isStrict,
      rejectUnauthorized: isStrict,
      ...(only !== undefined && { minVersion: only, maxVersion: only }),
      // Otherwise OpenSSL does not speak TLS 1.1 at all.
      ...(only === "TLSv1.1" && { ciphers: "DEFAULT@SECLEVEL=0" }),
      ...(options.ecdhCurve !== undefined && { ecdhCurve: options.ecdhCurve }),
      keepAliveTimeout: 60_000, // The receiver closes no connection by itself, even on a slow machine.
    },
    (request, response) => void serve(request, response),
  );
  const door = createServer((socket) => {
    connections.push(socket);
    socket.on("error", ignore);
    const secure = () => web.emit("connection", socket);
    if (options.accept) options.accept(socket, secure);
    else secure();
  });
  door.listen(options.port ?? 0, address);
  await once(door, "listening");
  const { port } = door.address() as AddressInfo;
  t?.after(close);

  const { cert: ca } = await testAuthority();
  return { host, port, requests: requests.all, connections, ca, url, answer, next, close };

  function url(path = "/hook"): string {
    return `https://${isIP(host) === 6 ? `[${host}]` : host}:${port}${path}`;
  }

  /** The next request gets the first script, and so on. The last script is repeated. */
  function answer(...next: [Script, ...Script[]]): void {
    scripts = next;
  }

  /** The oldest request that was not returned yet. */
  async function next(): Promise<Received> {
    const mine = unread++;
    return requests.until((all) => all[mine]);
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    const connection = connections.find((one) => one.remotePort === socket.remotePort);
    if (connection === undefined) throw new Error("a request without a connection");
    const requestsOnConnection = (served.get(connection) ?? 0) + 1;
    if (requestsOnConnection === 1) socket.on("error", ignore);
    served.set(connection, requestsOnConnection);

    const received = {
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      body: await buffer(request),
      at: new Date(),
      servername: socket instanceof TLSSocket ? (socket.servername ?? false) : false,
      connection,
      requestsOnConnection,
    };
    requests.add(received);
    const script = scripts.length > 1 ? scripts.shift() : scripts[0];
    script?.({ received, response, socket });
  }

  async function close(): Promise<void> {
    for (const socket of connections) socket.destroy();
    web.close();
    if (door.listening) await new Promise((resolve) => door.close(resolve));
  }
}

/** A receiver at the address that a rig's processes may reach. */
export function startLocalReceiver(t: TestContext): Promise<Receiver> {
  return startReceiver(t, { address: "127.0.0.1", host: "localhost" });
}

/** The id of the event in a delivery's body. */
export function eventIdOf({ body }: { body: Buffer }): string {
  return (JSON.parse(body.toString()) as { id: string }).id;
}

function ignore(): void {
  // The sender handles errors of connections.
}
