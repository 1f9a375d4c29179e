import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { createMemoryStore, handleOnce, verify } from "partner-api/webhook";

const { PARTNER_SECRET: secret, PORT = "3000" } = process.env;
const store = createMemoryStore(); // In production: your database, shared by all processes.

const server = createServer(async (request, response) => {
  const body = await buffer(request); // The raw bytes.
  const { verdict, event } = await verify({ secret, headers: request.headers, body });
  if (verdict !== "valid") return response.writeHead(400).end(verdict);

  const outcome = await handleOnce({ store, event, handle });
  return response.writeHead(outcome === "under_way" ? 503 : 204).end();
});

async function handle(event) {
  console.log(`received ${event.event} ${event.id}`);
}

server.listen(Number(PORT), () => console.log(`listening on ${server.address().port}`));
