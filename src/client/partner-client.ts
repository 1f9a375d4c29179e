import createClient from "openapi-fetch";
import { isObject, type Operation, readProblem } from "./problem.ts";
import { orThrow, type Result } from "./result.ts";
import type { operations, paths } from "./schema.ts";
import { timeLimit } from "./time-limit.ts";
import { hasData } from "./has-data.ts";

export type { Operation, Problem } from "./problem.ts";
export { orThrow, PartnerApiError, type Result } from "./result.ts";

type Json<Content> = Content extends { content: { "application/json": infer Body } } ? Body : never;
type ResponseBody<Of extends Operation, Status extends number> =
  operations[Of]["responses"] extends Record<Status, infer Content> ? Json<Content> : never;

export type Identity = ResponseBody<"getIdentity", 200>;
export type Subscription = ResponseBody<"listSubscriptions", 200>[number];
/** Includes `secret`, which no other call returns. */
export type NewSubscription = ResponseBody<"createSubscription", 201>;
export type AcceptedEvent = ResponseBody<"sendTestEvent", 200>;
export type FailuresPage = ResponseBody<"listFailures", 200>;
export type Failure = FailuresPage["items"][number];
type Requested = Json<operations["createSubscription"]["requestBody"]>;
/** Accepts any string, so that the events of an existing subscription fit. */
export type SubscriptionRequest = Omit<Requested, "events"> & {
  events: (Requested["events"][number] | (string & {}))[];
};
type Page = NonNullable<operations["listFailures"]["parameters"]["query"]>;
export type PageRequest = { [Name in keyof Page]: Page[Name] | undefined };

export interface KeyedOptions {
  /**
   * Makes the call safe to repeat for 24 hours, after a timeout for example: 1 to 255 visible ASCII characters, such as a
   * UUID. The same key with the same arguments gets the first response again.
   */
  idempotencyKey?: string | undefined;
}

export interface PartnerClientOptions {
  /** The address of the service, without `/api/v1/partner`. */
  baseUrl: string;
  /** The whole token, `vck_<key_id>.<secret>`. Surrounding white space is removed. */
  token: string;
  /** The time limit of a call, 30 seconds by default. A longer call throws a `TimeoutError`. */
  timeoutMs?: number | undefined;
  /** Replaces the global `fetch`, for logs, tests or a proxy: `(request) => fetch(request, { dispatcher })`. */
  fetch?: ((request: Request) => Promise<Response>) | undefined;
}

/**
 * Calls reject only if there is no response: no connection, or a timeout. An `id` that is not `wh_…` rejects with a `TypeError`. A
 * refusal is a `Problem`.
 * So is a 2xx response without the data of the call, such as a proxy's page.
 */
export interface PartnerClient {
  getIdentity(): Promise<Result<Identity, "getIdentity">>;
  createSubscription(
    request: SubscriptionRequest,
    options?: KeyedOptions,
  ): Promise<Result<NewSubscription, "createSubscription">>;
  listSubscriptions(): Promise<Result<Subscription[], "listSubscriptions">>;
  deleteSubscription(id: string): Promise<Result<undefined, "deleteSubscription">>;
  /** `secret` is the subscription's secret, as proof of possession. */
  sendTestEvent(
    id: string,
    secret: string,
    options?: KeyedOptions,
  ): Promise<Result<AcceptedEvent, "sendTestEvent">>;
  /** One page of the failures audit. */
  listFailures(id: string, page?: PageRequest): Promise<Result<FailuresPage, "listFailures">>;
  /** Iterates over all failures, newest first, and fetches pages as needed. Throws a `PartnerApiError`. */
  failures(id: string, page?: PageRequest): AsyncGenerator<Failure, void, undefined>;
}

/** Throws a `TypeError` or `RangeError` for invalid options. */
export function createPartnerClient(options: PartnerClientOptions): PartnerClient {
  if (!isObject(options)) throw new TypeError("createPartnerClient needs { baseUrl, token }");
  const { token, timeoutMs = 30_000, fetch = globalThis.fetch } = options;
  if (typeof fetch !== "function") throw new TypeError("fetch must be a function");
  const baseUrl = checkedBaseUrl(options.baseUrl);
  const within = timeLimit(timeoutMs);
  const headers = { authorization: `Bearer ${checkedToken(token)}` };
  const http = createClient<paths>({ baseUrl, headers, fetch });
  http.use({ onResponse: ({ response }) => withValidJson(response) });

  const client: PartnerClient = {
    getIdentity: () =>
      toResult("getIdentity", (signal) => http.GET("/api/v1/partner/me", { signal })),
    createSubscription: (request, options) =>
      toResult("createSubscription", (signal) => {
        const [params, body] = [{ header: keyHeader(options) }, request as Requested];
        return http.POST("/api/v1/partner/webhooks", { params, body, signal });
      }),
    listSubscriptions: () =>
      toResult("listSubscriptions", (signal) => http.GET("/api/v1/partner/webhooks", { signal })),
    deleteSubscription: (id) =>
      toResult("deleteSubscription", (signal) => {
        const params = { path: { id: checkedId(id) } };
        return http.DELETE("/api/v1/partner/webhooks/{id}", { params, signal });
      }),
    sendTestEvent: (id, secret, options) =>
      toResult("sendTestEvent", (signal) => {
        const path = { id: checkedId(id) };
        const [params, body] = [{ path, header: keyHeader(options) }, { secret }];
        return http.POST("/api/v1/partner/webhooks/{id}/test", { params, body, signal });
      }),
    listFailures: (id, page = {}) =>
      toResult("listFailures", (signal) => {
        const params = { path: { id: checkedId(id) }, query: page as Page };
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

  async function toResult<Data, Of extends Operation>(
    operation: Of,
    call: (signal: AbortSignal) => Promise<{ data?: Data; error?: unknown; response: Response }>,
  ): Promise<Result<Data, Of>> {
    const { data, error, response } = await within(call);
    if (response.ok && hasData(operation, data)) return { data: data as Data, error: null };
    return { data: null, error: readProblem(operation, response, error) };
  }
}

function keyHeader({ idempotencyKey }: KeyedOptions = {}): { "Idempotency-Key"?: string } {
  return idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey };
}

/** Without this check, `fetch` would throw errors that contain the invalid token. */
function checkedToken(token: string): string {
  const [, whole] = /^\s*(vck_[!-~]+)\s*$/.exec(token) ?? [];
  if (whole === undefined) {
    throw new TypeError(
      "token must be vck_<key_id>.<secret>, without a scheme: is the environment variable set?",
    );
  }
  return whole;
}

/** An unset variable and an address with the path would lead to addresses that nobody serves. */
function checkedBaseUrl(baseUrl: unknown): string {
  const address = String(baseUrl).trim().replace(/\/+$/, "");
  if (!/^https?:\/\/[^/]/.test(address) || address.endsWith("/api/v1/partner")) {
    throw new TypeError(
      "baseUrl must be the address of the service, such as https://api.example.com, without " +
        "/api/v1/partner: is the environment variable set?",
    );
  }
  return address;
}

/** An empty id would ask for another path, and that of something else would read as a deleted subscription. */
function checkedId(id: unknown): string {
  if (typeof id === "string" && /^wh_[!-~]+$/.test(id)) return id;
  throw new TypeError("id must be the id of a subscription, wh_…");
}

/** Replaces a body that is not JSON by `null`, because the parser would throw. */
async function withValidJson(response: Response): Promise<Response> {
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
