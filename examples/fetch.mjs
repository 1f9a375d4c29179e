import { createMemoryStore, handleOnce, verify } from "@partner-api/webhook";

// In production: a Durable Object or a database. Workers KV is not atomic.
const store = createMemoryStore();
const MAX_BYTES = 1024 * 1024; // Deliveries are smaller.

/** A Cloudflare Worker. In Deno: `Deno.serve((request) => worker.fetch(request, Deno.env.toObject()))`. */
const worker = {
  async fetch(request, env) {
    const body = await readBody(request);
    if (!body) return refuse(413, "more than 1 MiB");
    const { headers } = request;
    const secret = env.PARTNER_SECRET;
    const { verdict, event } = await verify({ secret, headers, body });
    if (verdict !== "valid") return refuse(400, verdict);

    const outcome = await handleOnce({ store, event, handle });
    return new Response(null, { status: outcome === "under_way" ? 503 : 204 });
  },
};

function refuse(status, reason) {
  console.log(`refused with ${status}: ${reason}`);
  return new Response(reason, { status });
}

/** Returns the raw bytes, or null if there are too many. Do not use request.json(). */
async function readBody(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) return null;
    chunks.push(chunk);
  }
  return new Blob(chunks).arrayBuffer();
}

async function handle(event) {
  console.log(`received ${event.event} ${event.id}`);
}

export default worker;
