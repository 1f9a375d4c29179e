/** How long the answer to a request with a key is kept. */
export const ANSWER_KEPT_MS = 24 * 3_600_000;

export const IDEMPOTENCY_KEY = /^[!-~]{1,255}$/;

export const IDEMPOTENCY_KEY_RULE = "must be 1 to 255 visible ASCII characters";

export function isIdempotencyKey(text: string): boolean {
  return IDEMPOTENCY_KEY.test(text);
}

/** The operations that accept a key, as the OpenAPI document names them. A key is unique within one. */
export type KeyedRoute = "createSubscription" | "sendTestEvent";
