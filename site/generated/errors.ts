import type { ErrorCode } from "../../src/domain/errors.ts";
import { PROBLEMS } from "../../src/http/problem.ts";

interface Explanation {
  cause: string;
  cure: string;
  /** Only the operators' API answers it. */
  isOperators?: true;
}

// `satisfies` makes a new code fail to compile here until it is explained.
const EXPLANATIONS = {
  malformed_request: {
    cause: "The body is not JSON in UTF-8, is missing, or broke off; or what arrived is not HTTP.",
    cure: "Send one JSON document, and let your HTTP library write the headers.",
  },
  unauthenticated: {
    cause:
      "There is no API key in `Authorization`, there are two, or the one there is malformed, unknown or revoked. " +
      "The answer is the same for all of these, so that nobody can find out keys by trying.",
    cure:
      "Send `Authorization: Bearer vck_<key_id>.<secret>`, the whole token with both halves and the dot. " +
      "If it worked before, the key was revoked: ask for a new one. See [Authentication](/docs/authentication).",
  },
  insufficient_scope: {
    cause: "The key is good, but lacks the scope of this call. `detail` names the scope.",
    cure:
      "See what your key may do with [`GET /me`](/docs/reference#check-a-key). Ask for a key with " +
      "`webhooks:manage`: a key's scopes never change.",
  },
  secret_mismatch: {
    cause: "The `secret` in the test call is not the signing secret of this subscription.",
    cure:
      "Send the `whsec_…` from the answer that created it, prefix included. Lost it? " +
      "Delete the subscription and create another.",
  },
  not_found: {
    cause:
      "There is no such path; or no subscription of yours has this id. An id that is malformed, deleted, or " +
      "another organization's gets the same answer.",
    cure: "Check the path, then the id, against [your list](/docs/reference#list-subscriptions).",
  },
  method_not_allowed: {
    cause: "The path exists, but not with this method. `HEAD` is no exception.",
    cure: "Use one of the methods in the `Allow` header.",
  },
  request_timeout: {
    cause: "The request did not arrive in full within 15 seconds, or its headers within 10.",
    cure: "Send the body at once, and try again on a new connection.",
  },
  subscription_inactive: {
    cause:
      "The subscription was auto-disabled after 20 consecutive failures, and takes no events any more.",
    cure:
      "Repair the receiver, delete the subscription and create a new one. See " +
      "[Auto-disabling](/docs/deliveries#auto-disabling).",
  },
  subscription_limit: {
    cause:
      "Your organization has the maximum number of subscriptions (100 unless agreed otherwise). " +
      "Auto-disabled ones count.",
    cure: "Delete what you no longer need. One subscription can take several event types.",
  },
  slug_taken: {
    cause: "Another organization has this slug.",
    cure: "Choose another. A slug cannot be changed later.",
    isOperators: true,
  },
  not_redeliverable: {
    cause: "The delivery is still waiting, or was delivered.",
    cure: "Only a dead-lettered or a cancelled delivery can be sent again.",
    isOperators: true,
  },
  payload_too_large: {
    cause: "The body is larger than 64 KiB.",
    cure: "No valid request comes near that. Look at what your program sends.",
  },
  unsupported_media_type: {
    cause:
      "A body came with another `Content-Type` than `application/json`, or with a `Content-Encoding`.",
    cure: "Set `Content-Type: application/json`. (`curl -d` alone sends a form.) Do not compress the body.",
  },
  invalid_request: {
    cause:
      "The JSON or the query is well-formed, but not of the shape that the call takes. `errors` names up to " +
      "20 faults at once: `pointer` says where (a JSON pointer), `detail` what is wrong.",
    cure: "Mend what `errors` names. The shape is in the [API reference](/docs/reference).",
  },
  url_rejected: {
    cause:
      "The URL of the subscription is not one that we deliver to: it is not `https://`, its host is not public, " +
      "or its name does not resolve. `detail` says which.",
    cure:
      "Use an https URL with a public host name. For tests on your own machine see " +
      "[Test on your laptop](/docs/local-testing); for the rules, [Which URLs](/docs/subscriptions#which-urls).",
  },
  reserved_scope: {
    cause: "The requested scope is reserved and cannot be granted yet.",
    cure: "Leave it out. `errors` names it.",
    isOperators: true,
  },
  unknown_scope: {
    cause: "The requested scope does not exist.",
    cure: "The scopes there are: `identity:read` (always granted) and `webhooks:manage`.",
    isOperators: true,
  },
  rate_limited: {
    cause: "Your organization has used up its requests for this minute. All its keys share them.",
    cure:
      "Wait for the number of seconds in `Retry-After`: the next request passes then. " +
      "`RateLimit` on every answer behind authentication says what is left. See [Limits](/docs/limits).",
  },
  headers_too_large: {
    cause: "The request's headers are larger than 16 KiB in all.",
    cure: "Remove what does not belong there: cookies, as a rule.",
  },
  internal: {
    cause: "Something went wrong on our side. It is logged under the `request_id`.",
    cure:
      "Try again. Before you repeat a `POST` that creates a subscription, look at your list: it may have worked. " +
      "If it stays, tell us the `request_id`.",
  },
  unavailable: {
    cause:
      "The service cannot answer just now: its database is away or overloaded, or host names cannot be " +
      "looked up just now.",
    cure: "Wait for the number of seconds in `Retry-After`, then try again. Deliveries go on by themselves.",
  },
} as const satisfies Record<ErrorCode, Explanation>;

/** Every code with its cause and its cure, under the anchor that `type` links to. */
export function errors(): string {
  const codes = Object.entries<Explanation>(EXPLANATIONS);
  const section = (wanted: boolean) =>
    codes
      .filter(([, { isOperators = false }]) => isOperators === wanted)
      .map(([code, explanation]) => entry(code as ErrorCode, explanation))
      .join("\n\n");
  return [
    "## Partners' API",
    section(false),
    "## Operators' API",
    "You meet these only if you run the service yourself.",
    section(true),
  ].join("\n\n");
}

function entry(code: ErrorCode, { cause, cure }: Explanation): string {
  const { status, title } = PROBLEMS[code];
  return `### \`${code}\`\n\n**${status} ${title}.** ${cause}\n\n**Cure.** ${cure}`;
}
