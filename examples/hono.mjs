import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { createMemoryStore, handleOnce, verify } from "@partner-api/webhook";

const { PARTNER_SECRET: secret, PORT = "3000" } = process.env;
const store = createMemoryStore(); // In production: a shared database.
const app = new Hono();

app.post("/hooks", bodyLimit({ maxSize: 1024 * 1024 }), async (c) => {
  const body = await c.req.arrayBuffer(); // The raw bytes, not c.req.json().
  const { headers } = c.req.raw;
  const { verdict, event } = await verify({ secret, headers, body });
  if (verdict !== "valid") return c.text(verdict, 400);

  const outcome = await handleOnce({ store, event, handle });
  return c.body(null, outcome === "under_way" ? 503 : 204);
});

async function handle(event) {
  console.log(`received ${event.event} ${event.id}`);
}

serve({ fetch: app.fetch, port: Number(PORT) }, ({ port }) => {
  console.log(`listening on ${port}`);
});
