import { codeOf, cut, isObject } from "../lib/objects.ts";
import type { BridgeReport } from "../subjects/bridges/rules.ts";
import type { BridgedEvent } from "./event.ts";

/** The service's answer to a batch. */
export type Answer =
  | { kind: "published"; duplicates: number }
  /** The reasons for refused events, by their index. Nothing was published. Empty if the answer names no event. */
  | { kind: "refused"; reasons: ReadonlyMap<number, string>; detail: string }
  /** Tried again. `isOfAll`: any other batch would fail, too. `afterMs`: the service asks to wait. */
  | { kind: "failed"; why: string; isOfAll: boolean; afterMs: number };

export interface Publisher {
  publish(events: readonly BridgedEvent[]): Promise<Answer>;
  /** Asks whether the service answers, without publishing. Null if it does, or the reason why not. */
  reach(): Promise<string | null>;
  /** Says what the bridge does, or with null that it ends. A report that does not arrive changes nothing. */
  report(id: string, report: BridgeReport | null): Promise<void>;
}

interface ServiceAddress {
  url: string;
  token: string;
  userAgent: string;
}

type Asking = Pick<RequestInit, "method" | "body"> & { headers?: Record<string, string> };

const ANSWER_MS = 60_000;
/** A stop does not wait longer for its report. */
const REPORT_MS = 2_000;
/** The longest wait that the service can ask for. */
const RETRY_AFTER_MAX_MS = 60_000;
const JSON_TYPE = "application/json";
/** Statuses that have nothing to do with the events of a request. */
const OF_ALL = new Set([401, 403, 404, 405, 407, 408, 421, 429]);

/** Publishes over `POST /events`. Follows no redirects, because the token is for this server only. */
export function createPublisher({ url, token, userAgent }: ServiceAddress): Publisher {
  return { publish, reach, report };

  async function publish(events: readonly BridgedEvent[]): Promise<Answer> {
    const body = `{"events":[${events.map((event) => event.json).join(",")}]}`;
    const [first] = events;
    const trace = first?.traceparent ?? null;
    try {
      const answer = await ask("/events", {
        method: "POST",
        headers: {
          "content-type": JSON_TYPE,
          ...(trace === null ? {} : { traceparent: trace }),
        },
        body,
      });
      return answerOf(answer, await answer.text(), events.length);
    } catch (error) {
      return { kind: "failed", why: reasonOf(error), isOfAll: true, afterMs: 0 };
    }
  }

  async function reach(): Promise<string | null> {
    try {
      const answer = await ask("/event-types?limit=1", {});
      const text = await answer.text();
      const isAway = answer.status >= 500 || [401, 403, 429].includes(answer.status);
      return isAway ? whyOf(answer.status, problemOf(text)) : null;
    } catch (error) {
      return reasonOf(error);
    }
  }

  async function report(id: string, said: BridgeReport | null): Promise<void> {
    const request =
      said === null
        ? { method: "DELETE" }
        : { method: "PUT", headers: { "content-type": JSON_TYPE }, body: JSON.stringify(said) };
    const answer = ask(`/bridges/${id}`, request, REPORT_MS);
    await answer.then((response) => response.text()).catch(() => undefined);
  }

  function ask(path: string, { headers: further, ...init }: Asking, withinMs = ANSWER_MS) {
    const headers = { authorization: `Bearer ${token}`, "user-agent": userAgent, ...further };
    const signal = AbortSignal.timeout(withinMs);
    return fetch(`${url}/api/v1/admin${path}`, { ...init, headers, redirect: "error", signal });
  }
}

function answerOf({ status, headers }: Response, text: string, events: number): Answer {
  const problem = problemOf(text);
  if (status === 202) {
    const items = Array.isArray(problem["items"]) ? (problem["items"] as unknown[]) : [];
    const duplicates = items.filter((item) => isObject(item) && item["duplicate"] === true).length;
    return { kind: "published", duplicates };
  }
  const detail = whyOf(status, problem);
  // A proxy can allow less than the service does. Parts of the batch may fit.
  const isTooMuch = status === 413 && events > 1;
  if (status === 422 || isTooMuch)
    return { kind: "refused", reasons: reasonsOf(problem["errors"]), detail };
  const seconds = Number(headers.get("retry-after") ?? 0);
  const afterMs = Number.isFinite(seconds) ? Math.min(seconds * 1_000, RETRY_AFTER_MAX_MS) : 0;
  return { kind: "failed", why: detail, isOfAll: OF_ALL.has(status), afterMs };
}

function problemOf(text: string): Record<string, unknown> {
  try {
    const body = JSON.parse(text) as unknown;
    return isObject(body) ? body : {};
  } catch {
    return {};
  }
}

function whyOf(status: number, { code, detail }: Record<string, unknown>): string {
  const words = [code, detail].filter((part) => typeof part === "string").join(": ");
  return cut(words === "" ? `the service answered ${status}` : `${status} ${words}`);
}

/** Joins the faults of each event: `type must be one of …; data/amount must be >= 0`. */
function reasonsOf(errors: unknown): Map<number, string> {
  const reasons = new Map<number, string>();
  for (const fault of Array.isArray(errors) ? (errors as unknown[]) : []) {
    if (!isObject(fault) || typeof fault["pointer"] !== "string") continue;
    const [, index, member] = /^\/events\/([0-9]+)(?:\/(.*))?$/s.exec(fault["pointer"]) ?? [];
    if (index === undefined) continue;
    const reason = `${member ?? "the event"} ${String(fault["detail"])}`;
    const before = reasons.get(Number(index));
    reasons.set(Number(index), cut(before === undefined ? reason : `${before}; ${reason}`));
  }
  return reasons;
}

/** Names the cause of a request without an answer. `fetch` hides it. */
function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error;
  if (name === "TimeoutError") return `the service did not answer within ${ANSWER_MS / 1_000} s`;
  return `the service cannot be reached (${codeOf(cause) || message})`;
}
