import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { createMemoryStore, handleOnce, verify } from "@partner-api/webhook";

const { PARTNER_SECRET: secret, PORT = "3000" } = process.env;
const store = createMemoryStore(); // In production: a shared database.
const app = new Hono();

const limit = bodyLimit({
  maxSize: 1024 * 1024,
  onError: (c) => refuse(c, 413, "more than 1 MiB"),
});

app.post("/hooks", limit, async (c) => {
  const body = await c.req.arrayBuffer(); // The raw bytes, not c.req.json().
  const { headers } = c.req.raw;
  const { verdict, event } = await verify({ secret, headers, body });
  if (verdict !== "valid") return refuse(c, 400, verdict);

  const outcome = await handleOnce({ store, event, handle });
  return c.body(null, outcome === "under_way" ? 503 : 204);
});

function refuse(c, status, reason) {
  console.log(`refused with ${status}: ${reason}`);
  return c.text(reason, status);
}

async function handle(event) {
  console.log(`received ${event.event} ${event.id}`);
}

serve({ fetch: app.fetch, port: Number(PORT) }, ({ port }) => {
  console.log(`listening on ${port}`);
});
