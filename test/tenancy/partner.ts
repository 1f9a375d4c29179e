import { randomUUID } from "node:crypto";
import type { InjectOptions } from "fastify";
import type { PartnerApi, TestKey } from "../support/partner-api.ts";
import type { Ask, Whose } from "./story.ts";

interface Known {
  id: string;
  secret: string;
}

const WEBHOOKS = "/api/v1/partner/webhooks";

/** The program of one organization. It sends requests and keeps the responses. */
export class Partner {
  readonly key: TestKey;
  readonly answers: unknown[] = [];
  /** Its subscriptions. */
  readonly made: Known[] = [];
  readonly #api: PartnerApi;
  readonly #cursors: Record<string, string | null> = {};

  constructor(api: PartnerApi, key: TestKey) {
    this.#api = api;
    this.key = key;
  }

  /** `other` is null in a run with one organization. Its ids are then unknown ids. */
  async do(step: Ask, other: Partner | null): Promise<void> {
    const request = this.#requestFor(step, other);
    const { statusCode, headers, body } = await this.#api.inject({
      ...request,
      headers: {
        authorization: this.key.authorization,
        "x-request-id": "same",
        ...("key" in step && step.key !== null ? { "idempotency-key": step.key } : {}),
      },
    });
    const found: unknown = body === "" ? null : JSON.parse(body);
    const isReplayed = headers["idempotent-replayed"] !== undefined;
    if (step.ask === "subscribe" && statusCode === 201 && !isReplayed)
      this.made.push(found as Known);
    if (step.ask === "failures" && statusCode === 200) {
      this.#cursors[request.url.split("?")[0] ?? ""] = (
        found as { next_cursor: string | null }
      ).next_cursor;
    }
    const { ratelimit, "retry-after": retryAfter } = headers;
    this.answers.push([step.ask, statusCode, isReplayed, ratelimit, retryAfter, found]);
  }

  #requestFor(step: Ask, other: Partner | null): InjectOptions & { url: string } {
    switch (step.ask) {
      case "me":
        return { url: "/api/v1/partner/me" };
      case "list":
        return { url: WEBHOOKS };
      case "subscribe": {
        const url = `https://hooks.example.com/${step.path}`;
        return { method: "POST", url: WEBHOOKS, payload: { url, events: ["vc.test.ping"] } };
      }
      case "ping": {
        const { id, secret } = this.#pick(step, other);
        const payload = { secret: step.knowsSecret ? secret : "whsec_wrong" };
        return { method: "POST", url: `${WEBHOOKS}/${id}/test`, payload };
      }
      case "failures": {
        const path = `${WEBHOOKS}/${this.#pick(step, other).id}/failures`;
        const cursor = this.#cursors[path];
        return { url: `${path}?limit=${step.limit}${cursor ? `&cursor=${cursor}` : ""}` };
      }
      case "delete":
        return { method: "DELETE", url: `${WEBHOOKS}/${this.#pick(step, other).id}` };
    }
  }

  #pick({ of, pick }: { of: Whose; pick: number }, other: Partner | null): Known {
    const known = of === "mine" ? this.made : (other?.made ?? []);
    return known[pick % known.length] ?? { id: `wh_${randomUUID()}`, secret: "whsec_unknown" };
  }
}
