import { createMemoryStore, handleOnce } from "./webhook.mjs";

const store = createMemoryStore(); // In production: a shared database.

/** Handles a valid event once and returns the status of the response. */
export async function statusFor(event, handle) {
  const outcome = await handleOnce({ store, event, handle });
  return outcome === "under_way" ? 503 : 204;
}
