import { readFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { buffer } from "node:stream/consumers";
import { verify } from "./webhook.mjs";

const { PARTNER_SECRET: secret, PORT = "3000", TLS_PEM } = process.env;
const seen = new Set(); // In production: a table with a unique key on the event's id.

async function receive(request, response) {
  const body = await buffer(request); // The raw bytes.
  const { headers } = request;
  const { verdict, event } = await verify({ secret, headers, body });
  if (verdict !== "valid") {
    console.log(`refused, ${verdict}`);
    return response.writeHead(400).end();
  }

  const isNew = !seen.has(event.id); // A delivery may arrive twice.
  seen.add(event.id);
  response.writeHead(204).end(); // Once it is stored, within 10 seconds. Work on it afterwards.
  if (isNew) console.log(`received ${event.event} ${event.id}: ${event.data.message}`);
}

// TLS is the business of a proxy or a tunnel, except for tests on your own machine.
const pem = TLS_PEM && readFileSync(TLS_PEM);
const server = pem
  ? createHttpsServer({ key: pem, cert: pem }, receive)
  : createHttpServer(receive);
server.listen(Number(PORT), () => console.log(`receiving on port ${server.address().port}`));
