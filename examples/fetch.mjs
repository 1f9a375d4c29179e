import { createMemoryStore, handleOnce, verify } from "partner-api/webhook";

// In production: a Durable Object or a database. Workers KV is too loose.
const store = createMemoryStore();

/**
 * A Worker as it is. In Deno:
 * `Deno.serve((request) => worker.fetch(request, Deno.env.toObject()))`.
 */
const worker = {
  async fetch(request, env) {
    const body = await request.arrayBuffer(); // The raw bytes: not request.json().
    const { headers } = request;
    const secret = env.PARTNER_SECRET;
    const { verdict, event } = await verify({ secret, headers, body });
    if (verdict !== "valid") return new Response(verdict, { status: 400 });

    const outcome = await handleOnce({ store, event, handle });
    return new Response(null, { status: outcome === "under_way" ? 503 : 204 });
  },
};

async function handle(event) {
  console.log(`received ${event.event} ${event.id}`);
}

export default worker;
