import { createMemoryStore, handleOnce, verify } from "partner-api/webhook";

const store = createMemoryStore(); // In production: Workers KV is too loose; a Durable Object, a database.

/** A Worker as it is. Deno: `Deno.serve((request) => worker.fetch(request, Deno.env.toObject()))`. */
const worker = {
  async fetch(request, env) {
    const body = await request.arrayBuffer(); // The raw bytes: not request.json().
    const { headers } = request;
    const { verdict, event } = await verify({ secret: env.PARTNER_SECRET, headers, body });
    if (verdict !== "valid") return new Response(verdict, { status: 400 });

    const outcome = await handleOnce({ store, event, handle });
    return new Response(null, { status: outcome === "under_way" ? 503 : 204 });
  },
};

async function handle(event) {
  console.log(`received ${event.event} ${event.id}`);
}

export default worker;
