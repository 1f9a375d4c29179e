import createClient from "openapi-fetch";
import { isObject, type Operation, readProblem } from "./problem.ts";
import { orThrow, type Result } from "./result.ts";
import type { operations, paths } from "./schema.ts";

export type { Operation, Problem } from "./problem.ts";
export { orThrow, PartnerApiError, type Result } from "./result.ts";

type Json<Content> = Content extends { content: { "application/json": infer Body } } ? Body : never;
type Answer<Of extends Operation, Status extends number> =
  operations[Of]["responses"] extends Record<Status, infer Content> ? Json<Content> : never;

export type Identity = Answer<"getIdentity", 200>;
export type Subscription = Answer<"listSubscriptions", 200>[number];
/** With its `secret`, which no other answer holds. */
export type NewSubscription = Answer<"createSubscription", 201>;
export type AcceptedEvent = Answer<"sendTestEvent", 200>;
export type FailuresPage = Answer<"listFailures", 200>;
export type Failure = FailuresPage["items"][number];
export type SubscriptionRequest = Json<operations["createSubscription"]["requestBody"]>;
export type PageRequest = NonNullable<operations["listFailures"]["parameters"]["query"]>;

export interface PartnerClientOptions {
  /** Where the service is, without `/api/v1/partner`. */
  baseUrl: string;
  /** The whole token, `vck_<key_id>.<secret>`. */
  token: string;
  /** How long a call may take, 30 seconds unless told; then it throws a `TimeoutError`. */
  timeoutMs?: number;
  /** In place of the global one: for a proxy, a log, or a test. */
  fetch?: (request: Request) => Promise<Response>;
}

/**
 * Calls reject only when there is no answer: no connection, or no time left. A refusal is a `Problem`, and so is a 2xx
 * that does not hold what the call answers: a proxy's page, say.
 */
export interface PartnerClient {
  getIdentity(): Promise<Result<Identity, "getIdentity">>;
  createSubscription(
    request: SubscriptionRequest,
  ): Promise<Result<NewSubscription, "createSubscription">>;
  listSubscriptions(): Promise<Result<Subscription[], "listSubscriptions">>;
  deleteSubscription(id: string): Promise<Result<undefined, "deleteSubscription">>;
  /** `secret` is the subscription's own, as proof. */
  sendTestEvent(id: string, secret: string): Promise<Result<AcceptedEvent, "sendTestEvent">>;
  /** One page of the failures audit. */
  listFailures(id: string, page?: PageRequest): Promise<Result<FailuresPage, "listFailures">>;
  /** The whole failures audit, newest first, fetched page by page as it is read. Throws a `PartnerApiError`. */
  failures(id: string, page?: PageRequest): AsyncGenerator<Failure, void, undefined>;
}

export function createPartnerClient(options: PartnerClientOptions): PartnerClient {
  const { baseUrl, token, timeoutMs = 30_000, fetch = globalThis.fetch } = options;
  const http = createClient<paths>({
    baseUrl,
    headers: { authorization: `Bearer ${token}` },
    fetch: (request) => fetch(new Request(request, { signal: AbortSignal.timeout(timeoutMs) })),
  });
  http.use({ onResponse: ({ response }) => readable(response) });

  const client: PartnerClient = {
    getIdentity: () => settle("getIdentity", http.GET("/api/v1/partner/me")),
    createSubscription: (body) =>
      settle("createSubscription", http.POST("/api/v1/partner/webhooks", { body })),
    listSubscriptions: () => settle("listSubscriptions", http.GET("/api/v1/partner/webhooks")),
    deleteSubscription: (id) =>
      settle(
        "deleteSubscription",
        http.DELETE("/api/v1/partner/webhooks/{id}", { params: { path: { id } } }),
      ),
    sendTestEvent: (id, secret) =>
      settle(
        "sendTestEvent",
        http.POST("/api/v1/partner/webhooks/{id}/test", {
          params: { path: { id } },
          body: { secret },
        }),
      ),
    listFailures: (id, query = {}) =>
      settle(
        "listFailures",
        http.GET("/api/v1/partner/webhooks/{id}/failures", { params: { path: { id }, query } }),
      ),
    async *failures(id, page = {}) {
      let cursor = page.cursor;
      do {
        const { items, next_cursor } = orThrow(
          await client.listFailures(id, { ...page, ...(cursor === undefined ? {} : { cursor }) }),
        );
        yield* items;
        cursor = next_cursor ?? undefined;
      } while (cursor !== undefined);
    },
  };
  return client;
}

/** With `null` for a body that is no JSON, on which the parser would throw. */
async function readable(response: Response): Promise<Response> {
  if (!response.ok) return response;
  const text = await response.clone().text();
  return text === "" || isJson(text) ? response : Response.json(null, response);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

async function settle<Data, Of extends Operation>(
  operation: Of,
  call: Promise<{ data?: Data; error?: unknown; response: Response }>,
): Promise<Result<Data, Of>> {
  const { data, error, response } = await call;
  const isWhole = operation === "deleteSubscription" ? data === undefined : isObject(data);
  if (response.ok && isWhole) return { data: data as Data, error: null };
  return { data: null, error: readProblem(operation, response, error) };
}
