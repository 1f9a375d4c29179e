import { createMemoryStore, handleOnce } from "./webhook.mjs";

const store = createMemoryStore(); // In production: a database that all processes share.

/** The status to answer a valid event with. `handle` works on it, once. */
export async function statusFor(event, handle) {
  const outcome = await handleOnce({ store, event, handle });
  return outcome === "under_way" ? 503 : 204;
}
