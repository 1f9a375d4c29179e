import createClient from "openapi-fetch";
import { type Operation, readProblem } from "./problem.ts";
import { orThrow, type Result } from "./result.ts";
import type { operations, paths } from "./schema.ts";
import { timeLimit } from "./time-limit.ts";
import { isWhole } from "./whole.ts";

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
type Requested = Json<operations["createSubscription"]["requestBody"]>;
/** The events of a subscription that is there will do, too. */
export type SubscriptionRequest = Omit<Requested, "events"> & {
  events: (Requested["events"][number] | (string & {}))[];
};
type Page = NonNullable<operations["listFailures"]["parameters"]["query"]>;
export type PageRequest = { [Name in keyof Page]: Page[Name] | undefined };

export interface PartnerClientOptions {
  /** Where the service is, without `/api/v1/partner`. */
  baseUrl: string;
  /** The whole token, `vck_<key_id>.<secret>`. White space around it does not count. */
  token: string;
  /** How long a call may take, 30 seconds unless told; then it throws a `TimeoutError`. */
  timeoutMs?: number | undefined;
  /** In place of the global one, for a log, a test, or a proxy: `(request) => fetch(request, { dispatcher })`. */
  fetch?: ((request: Request) => Promise<Response>) | undefined;
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

/** Throws a `TypeError` or `RangeError` for options that cannot be. */
export function createPartnerClient(options: PartnerClientOptions): PartnerClient {
  const { baseUrl, token, timeoutMs = 30_000, fetch = globalThis.fetch } = options;
  const within = timeLimit(timeoutMs);
  const headers = { authorization: `Bearer ${checkedToken(token)}` };
  const http = createClient<paths>({ baseUrl, headers, fetch });
  http.use({ onResponse: ({ response }) => readable(response) });

  const client: PartnerClient = {
    getIdentity: () =>
      settle("getIdentity", (signal) => http.GET("/api/v1/partner/me", { signal })),
    createSubscription: (request) =>
      settle("createSubscription", (signal) => {
        const body = request as Requested;
        return http.POST("/api/v1/partner/webhooks", { body, signal });
      }),
    listSubscriptions: () =>
      settle("listSubscriptions", (signal) => http.GET("/api/v1/partner/webhooks", { signal })),
    deleteSubscription: (id) =>
      settle("deleteSubscription", (signal) => {
        const params = { path: { id } };
        return http.DELETE("/api/v1/partner/webhooks/{id}", { params, signal });
      }),
    sendTestEvent: (id, secret) =>
      settle("sendTestEvent", (signal) => {
        const [params, body] = [{ path: { id } }, { secret }];
        return http.POST("/api/v1/partner/webhooks/{id}/test", { params, body, signal });
      }),
    listFailures: (id, page = {}) =>
      settle("listFailures", (signal) => {
        const params = { path: { id }, query: page as Page };
        return http.GET("/api/v1/partner/webhooks/{id}/failures", { params, signal });
      }),
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

  async function settle<Data, Of extends Operation>(
    operation: Of,
    call: (signal: AbortSignal) => Promise<{ data?: Data; error?: unknown; response: Response }>,
  ): Promise<Result<Data, Of>> {
    const { data, error, response } = await within(call);
    if (response.ok && isWhole(operation, data)) return { data: data as Data, error: null };
    return { data: null, error: readProblem(operation, response, error) };
  }
}

/** What is no token would otherwise stand, whole, in the error that each call throws. */
function checkedToken(token: string): string {
  const [, whole] = /^\s*(vck_[!-~]+)\s*$/.exec(token) ?? [];
  if (whole === undefined) throw new TypeError("token must be vck_<key_id>.<secret>");
  return whole;
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
