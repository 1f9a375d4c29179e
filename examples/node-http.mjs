import { createServer } from "node:http";
import { createMemoryStore, handleOnce, verify } from "@partner-api/webhook";

const { PARTNER_SECRET: secret, PORT = "3000" } = process.env;
const store = createMemoryStore(); // In production: a shared database.
const MAX_BYTES = 1024 * 1024; // Deliveries are smaller.

/** Returns the status and text of the response. */
async function receive(request) {
  const { headers } = request;
  const body = await readBody(request);
  if (!body) return [413, "more than 1 MiB"];
  const { verdict, event } = await verify({ secret, headers, body });
  if (verdict !== "valid") return [400, verdict];

  const outcome = await handleOnce({ store, event, handle });
  return [outcome === "under_way" ? 503 : 204];
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

async function handle(event) {
  console.log(`received ${event.event} ${event.id}`);
}

const server = createServer(async (request, response) => {
  const [status, text] = await receive(request).catch((error) => {
    console.error(error); // An aborted request must not end the program.
    return [500];
  });
  if (!request.complete) response.setHeader("connection", "close"); // The rest is not read.
  if (text) console.log(`refused with ${status}: ${text}`);
  response.writeHead(status).end(text);
});

server.listen(Number(PORT), () => {
  console.log(`listening on ${server.address().port}`);
});
