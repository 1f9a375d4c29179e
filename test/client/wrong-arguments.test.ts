import assert from "node:assert/strict";
import { test } from "node:test";
import { createPartnerClient } from "../../src/client/partner-client.ts";

test("an address or an id of a wrong kind is explained before a request", async () => {
  const token = "vck_x.y";
  const addresses = [
    undefined,
    "",
    "undefined",
    "localhost:8080",
    "https://a.example/api/v1/partner/",
  ];
  for (const baseUrl of addresses as string[]) {
    const make = () => createPartnerClient({ baseUrl, token });
    assert.throws(make, { name: "TypeError", message: /^baseUrl must be/ });
  }
  for (const wrong of [undefined, "", "Bearer vck_x.y", "vck_x.\ny"] as string[]) {
    const make = () => createPartnerClient({ baseUrl: "https://a.example", token: wrong });
    assert.throws(make, { name: "TypeError", message: /^token must be.*variable/ });
  }
  const fetch = () => assert.fail("sent");
  const client = createPartnerClient({ baseUrl: "https://a.example/", token, fetch });
  for (const id of [
    undefined,
    null,
    { id: "wh_x" },
    7,
    "",
    "evt_x",
    "wh_x\n",
  ] as unknown as string[]) {
    const explained = { name: "TypeError", message: /^id must be/ };
    await assert.rejects(client.deleteSubscription(id), explained);
    await assert.rejects(client.sendTestEvent(id, "whsec_x"), explained);
    await assert.rejects(client.listFailures(id), explained);
  }
});
