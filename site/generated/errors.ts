import { PROBLEMS } from "../../src/http/problem.ts";
import type { ErrorCode } from "../../src/lib/errors.ts";

interface Explanation {
  cause: string;
  solution: string;
  /** Only the operators' API has this error. */
  isOperators?: true;
}

// A code without an explanation fails to compile because of `satisfies`.
const EXPLANATIONS = {
  malformed_request: {
    cause: "The body is missing, truncated or not JSON in UTF-8, or the request is not valid HTTP.",
    solution: "Send one JSON document, and let an HTTP library write the headers.",
  },
  unauthenticated: {
    cause:
      "The `Authorization` header is missing or occurs twice, or its API key is malformed, unknown or revoked. " +
      "The response is the same in all cases, so that nobody can guess keys.",
    solution:
      "Send `Authorization: Bearer vck_<key_id>.<secret>`, with the whole token. If it worked before, the key was " +
      "revoked: ask the operator for a new one. See [Authentication](/docs/authentication).",
  },
  insufficient_scope: {
    cause: "The key is valid, but lacks the scope of this call. `detail` names the scope.",
    solution:
      "[`GET /me`](/docs/reference#check-a-key) shows the scopes of your key. A key's scopes never change, so ask the " +
      "operator for a key with `webhooks:manage`.",
  },
  insufficient_role: {
    cause:
      "The operator token is valid, but its role does not permit this call: `read` permits `GET`, and `publish` permits " +
      "publishing events, reading an event and listing event types.",
    solution: "Use a token with the role that the call needs. `ADMIN_TOKEN` sets the roles.",
    isOperators: true,
  },
  cross_site: {
    cause:
      "The request has the console's session cookie and would change something, but nothing in it shows that the console sent it.",
    solution:
      "Programs send an operator token in `Authorization`. The console sends `X-Requested-With: console`.",
    isOperators: true,
  },
  secret_mismatch: {
    cause: "The `secret` in the test call is not the signing secret of this subscription.",
    solution:
      "Send the whole `whsec_…` from the response that created the subscription. If you lost it, delete the " +
      "subscription and create a new one.",
  },
  not_found: {
    cause:
      "The path does not exist, or you have no subscription with this id. A malformed id, a deleted subscription and " +
      "one of another organization get the same response. So does an `Idempotency-Key` whose subscription was deleted.",
    solution:
      "Check the path, then compare the id with [your list](/docs/reference#list-subscriptions).",
  },
  method_not_allowed: {
    cause: "The path does not support this method. `HEAD` is not supported either.",
    solution: "Use one of the methods in the `Allow` header.",
  },
  request_timeout: {
    cause: "The request was not complete within 15 seconds, or its headers within 10.",
    solution: "Send the body without delay, and try again on a new connection.",
  },
  subscription_inactive: {
    cause: "The subscription was auto-disabled after 20 consecutive failures.",
    solution:
      "Fix the receiver, delete the subscription and create a new one. See " +
      "[Auto-disabling](/docs/deliveries#auto-disabling).",
  },
  subscription_limit: {
    cause:
      "Your organization has the maximum number of subscriptions, 100 unless agreed otherwise. " +
      "Auto-disabled ones count.",
    solution:
      "Delete subscriptions that you do not need. One subscription can have several event types.",
  },
  slug_taken: {
    cause: "Another organization has this slug.",
    solution: "Choose another slug. It cannot be changed later.",
    isOperators: true,
  },
  subscription_held: {
    cause: "An operator holds the subscription, so nothing of it is attempted.",
    solution: "Release it first.",
    isOperators: true,
  },
  not_redeliverable: {
    cause: "The delivery is still waiting, or was delivered.",
    solution: "You can redeliver only dead-lettered and cancelled deliveries.",
    isOperators: true,
  },
  not_waiting: {
    cause: "The delivery was delivered, dead-lettered or cancelled.",
    solution: "Only waiting deliveries can be attempted now. Redeliver a finished one.",
    isOperators: true,
  },
  redelivery_finished: {
    cause: "The redelivery is finished or cancelled, so its state cannot change any more.",
    solution: "Create another one. It skips deliveries that were already redelivered.",
    isOperators: true,
  },
  redelivery_limit: {
    cause: "100 redeliveries are not finished yet.",
    solution: "Wait until one is finished, or cancel one.",
    isOperators: true,
  },
  request_in_progress: {
    cause:
      "Another request with the same `Idempotency-Key` is being answered, and was not finished within a second.",
    solution:
      "Send the same request again in a few seconds. You then get the answer of the first one.",
  },
  payload_too_large: {
    cause: "The body is larger than 64 KiB.",
    solution: "Check what your program sends. Valid requests are much smaller.",
  },
  unsupported_media_type: {
    cause: "The body has a `Content-Type` other than `application/json`, or a `Content-Encoding`.",
    solution:
      "Set `Content-Type: application/json` (`curl -d` alone sends a form). Do not compress the body.",
  },
  misdirected_request: {
    cause: "The `Host` of the request is not a name of the operators' listener.",
    solution: "Use an IP address or `localhost`, or list the name in `ALLOWED_HOSTS`.",
    isOperators: true,
  },
  invalid_request: {
    cause:
      "The JSON or the query is well-formed but invalid. `errors` lists up to 20 faults: `pointer` is a JSON pointer " +
      "to the place, `detail` explains the fault.",
    solution: "Fix the listed faults. The [API reference](/docs/reference) has the schema.",
  },
  idempotency_key_reused: {
    cause:
      "A request with this `Idempotency-Key` succeeded in the last 24 hours, and its path or body was different.",
    solution:
      "Use a new key for each new request, and the same key only to repeat one. See " +
      "[Repeat a request safely](/docs/subscriptions#repeat-a-request-safely).",
  },
  url_rejected: {
    cause:
      "We cannot deliver to the URL: it does not start with `https://`, its host is not public, or the host name does " +
      "not resolve. `detail` names the reason.",
    solution:
      "Use an HTTPS URL with a public host name. See [URL requirements](/docs/subscriptions#url-requirements), and " +
      "[Test on your laptop](/docs/local-testing) for local tests.",
  },
  reserved_scope: {
    cause: "The requested scope is reserved and cannot be granted yet.",
    solution: "Remove the scopes that `errors` names.",
    isOperators: true,
  },
  unknown_scope: {
    cause: "The requested scope does not exist.",
    solution: "The scopes are `identity:read`, which every key has, and `webhooks:manage`.",
    isOperators: true,
  },
  rate_limited: {
    cause:
      "Your organization has used up its requests for this minute. All its keys share one limit.",
    solution:
      "Wait the number of seconds in `Retry-After`. The `RateLimit` header of every authenticated response shows " +
      "what is left. See [Limits](/docs/limits).",
  },
  headers_too_large: {
    cause: "The request's headers are larger than 16 KiB in total.",
    solution: "Remove unnecessary headers, such as cookies.",
  },
  internal: {
    cause: "An unexpected error on our side. We logged it with the `request_id`.",
    solution:
      "Try again. With an [`Idempotency-Key`](/docs/subscriptions#repeat-a-request-safely), a `POST` that succeeded " +
      "is not executed twice. If the error persists, send us the `request_id`.",
  },
  unavailable: {
    cause:
      "Our database is unavailable or overloaded, we cannot resolve host names, or the service is stopping.",
    solution:
      "Wait the number of seconds in `Retry-After` and try again. Deliveries continue by themselves.",
  },
} as const satisfies Record<ErrorCode, Explanation>;

/** Lists the codes of the partners' API with cause and solution, each under the anchor that `type` links to. */
export const errors = () => sections(false);

/** The same for the operators' API. */
export const operatorErrors = () => sections(true);

function sections(wanted: boolean): string {
  return Object.entries<Explanation>(EXPLANATIONS)
    .filter(([, { isOperators = false }]) => isOperators === wanted)
    .map(([code, explanation]) => entry(code as ErrorCode, explanation))
    .join("\n\n");
}

function entry(code: ErrorCode, { cause, solution }: Explanation): string {
  const { status, title } = PROBLEMS[code];
  return `### \`${code}\`\n\n**${status} ${title}.** ${cause}\n\n**Solution.** ${solution}`;
}
