import assert from "node:assert/strict";
import { test } from "node:test";
import { Egress } from "../../src/egress/index.ts";
import { groupBy } from "../../src/lib/objects.ts";
import { RETRY_DELAYS_MS } from "../../src/subjects/deliveries/rules.ts";
import { column } from "../support/columns.ts";
import { createDatabase } from "../support/database.ts";
import { EVENTS, startPartnerApi } from "../support/partner-api.ts";
import { URLS } from "../support/urls.ts";

const db = await createDatabase();

/** Some of each verdict, because `egress/destination-url.test.ts` has them all. */
const SOME = 8;
const some = [...groupBy(URLS, ({ reason }) => reason).values()].flatMap((all) =>
  all.slice(0, SOME),
);

interface Answer {
  url?: string;
  code?: string;
  detail?: string;
  errors?: { pointer: string; detail: string }[];
}

test("a URL of each verdict gets it at creation, with the broken rule and without the URL", async (t) => {
  const lookup = () =>
    Promise.resolve({ kind: "addresses" as const, addresses: ["93.184.215.14"] });
  const egress = new Egress({ lookup });
  t.after(() => egress.close());
  const api = startPartnerApi(t, db, {
    checkDestination: (url) => egress.check(url),
    rules: {
      retryDelaysMs: RETRY_DELAYS_MS,
      autoDisableAfter: 20,
      maxSubscriptions: 1_000,
      leaseMs: 30_000,
    },
  });
  const base = await api.listen();
  const { authorization } = await api.aKeyWith("webhooks:manage");

  for (const { url, accepted, reason, note } of some) {
    const response = await fetch(`${base}/api/v1/partner/webhooks`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify({ url, events: EVENTS }),
    });
    const answer = (await response.json()) as Answer;
    assert.equal(response.status, accepted ? 201 : 422, note);
    if (accepted) assert.equal(answer.url, url, note);
    else {
      // The schema checks the length first.
      const isTooLong = reason === "The URL must not be longer than 2,048 characters.";
      const { code, detail, errors } = answer;
      assert.equal(code, isTooLong ? "invalid_request" : "url_rejected", note);
      assert.deepEqual(column(errors, "pointer"), ["/url"], note);
      if (!isTooLong) assert.deepEqual([detail, errors?.[0]?.detail], [reason, reason], note);
    }
  }
});
