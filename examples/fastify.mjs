import Fastify from "fastify";
import { createMemoryStore, handleOnce, verify } from "@partner-api/webhook";

const { PARTNER_SECRET: secret, PORT = "3000" } = process.env;
const store = createMemoryStore(); // In production: a shared database.
const app = Fastify();

// Bodies stay raw only in this plugin.
app.register(async (hooks) => {
  hooks.removeAllContentTypeParsers();
  hooks.addContentTypeParser("*", { parseAs: "buffer" }, async (_, body) => body);

  hooks.addHook("onError", async (_request, _reply, error) => {
    console.error(error); // A mistake in this program, or a body that is too large.
  });

  hooks.post("/hooks", async (request, reply) => {
    const { headers, body = "" } = request; // A request may have no body.
    const { verdict, event } = await verify({ secret, headers, body });
    if (verdict !== "valid") {
      console.log(`refused with 400: ${verdict}`);
      return reply.code(400).send(verdict);
    }

    const outcome = await handleOnce({ store, event, handle });
    return reply.code(outcome === "under_way" ? 503 : 204).send();
  });
});

async function handle(event) {
  console.log(`received ${event.event} ${event.id}`);
}

await app.listen({ port: Number(PORT) });
console.log(`listening on ${app.server.address().port}`);
