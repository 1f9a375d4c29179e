import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { createMemoryStore, handleOnce, verify } from "partner-api/webhook";

const { PARTNER_SECRET: secret, PORT = "3000" } = process.env;
const store = createMemoryStore(); // In production: a database that all processes share.

/** Status and text to answer with. */
async function receive(request) {
  const { headers } = request;
  const body = await buffer(request); // The raw bytes.
  const { verdict, event } = await verify({ secret, headers, body });
  if (verdict !== "valid") return [400, verdict];

  const outcome = await handleOnce({ store, event, handle });
  return [outcome === "under_way" ? 503 : 204];
}

async function handle(event) {
  console.log(`received ${event.event} ${event.id}`);
}

const server = createServer(async (request, response) => {
  const [status, text] = await receive(request).catch((error) => {
    console.error(error); // A sender who breaks off must not end the program.
    return [500];
  });
  response.writeHead(status).end(text);
});

server.listen(Number(PORT), () => {
  console.log(`listening on ${server.address().port}`);
});
