import express from "express";
import { createMemoryStore, handleOnce, verify } from "@partner-api/webhook";

const { PARTNER_SECRET: secret, PORT = "3000" } = process.env;
const store = createMemoryStore(); // In production: a shared database.
const app = express();

// The raw bytes of any content type. Must come before app.use(express.json()).
const rawBody = express.raw({ type: () => true, limit: "1mb" });

app.post("/hooks", rawBody, async (request, response) => {
  const { headers, body = "" } = request; // A request may have no body.
  const { verdict, event } = await verify({ secret, headers, body });
  if (verdict !== "valid") {
    console.log(`refused with 400: ${verdict}`);
    return response.status(400).send(verdict);
  }

  const outcome = await handleOnce({ store, event, handle });
  return response.status(outcome === "under_way" ? 503 : 204).end();
});

app.use(express.json()); // For your other routes.

async function handle(event) {
  console.log(`received ${event.event} ${event.id}`);
}

const server = app.listen(Number(PORT), () => {
  console.log(`listening on ${server.address().port}`);
});
