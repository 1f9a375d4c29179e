import assert from "node:assert/strict";
import dns from "node:dns";
import { test } from "node:test";
import { openListener } from "../../src/http/listener.ts";
import { createDatabase } from "../support/database.ts";
import { startPartnerApi } from "../support/partner-api.ts";

const db = await createDatabase();

test("a listener on localhost uses one address, so that its bounds cover all connections", async (t) => {
  const both = ["127.0.0.1", "127.0.0.2"].map((address) => ({ address, family: 4 }));
  type Found = (error: null, found: string | object[], family?: number) => void;
  t.mock.method(dns, "lookup", (host: string, ...rest: [...dns.LookupOptions[], Found]) => {
    const found = rest.pop() as Found;
    const [options] = rest as dns.LookupOptions[];
    if (options?.all) found(null, both);
    else found(null, host === "localhost" ? "127.0.0.1" : host, 4);
  });
  const { app } = startPartnerApi(t, db);
  await openListener(app, "localhost", 0);
  assert.equal(app.addresses().length, 1);
});

test("an unknown host is one clear line", async (t) => {
  const { app } = startPartnerApi(t, db);
  await assert.rejects(openListener(app, "nowhere.invalid", 0), {
    message: "cannot listen on nowhere.invalid:0: no such host",
  });
});
