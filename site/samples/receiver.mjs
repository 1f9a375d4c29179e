import { readFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { verify } from "./webhook.mjs";

const { PARTNER_SECRET, PORT = "3000", TLS_PEM } = process.env;
if (!PARTNER_SECRET) throw new Error("PARTNER_SECRET is not set");
const secret = PARTNER_SECRET.split(","); // Several during a rotation.
const seen = new Set(); // In production: a table with a unique key on the id.
const MAX_BYTES = 1024 * 1024; // Deliveries are smaller.

/** Returns the status of the response. */
async function receive(request) {
  const { headers } = request;
  const body = await readBody(request);
  if (!body) return refuse(413, "more than 1 MiB");
  const { verdict, event } = await verify({ secret, headers, body });
  if (verdict !== "valid") return refuse(400, verdict);

  if (seen.has(event.id)) return 204; // A duplicate.
  seen.add(event.id);
  console.log(`received ${event.event} ${event.id}: ${event.data.message}`);
  return 204; // Store the event, respond within 10 seconds, process it later.
}

function refuse(status, reason) {
  console.log(`refused with ${status}: ${reason}`);
  return status;
}

/** Returns the raw bytes, or null if there are too many. */
async function readBody(request) {
  const chunks = [];
  let bytes = 0;
  // Keep the request open after the return, so that it can be answered.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function answer(request, response) {
  const status = await receive(request).catch((error) => {
    console.error(error); // An aborted request must not end the program.
    return 500;
  });
  if (!request.complete) response.setHeader("connection", "close"); // The rest is not read.
  response.writeHead(status).end();
}

// TLS is for local tests. Otherwise a proxy or tunnel terminates it.
const pem = TLS_PEM && readFileSync(TLS_PEM);
const createServer = pem ? createHttpsServer : createHttpServer;
const server = createServer({ key: pem, cert: pem }, answer);
server.listen(Number(PORT), () => {
  console.log(`receiving on port ${server.address().port}`);
});
