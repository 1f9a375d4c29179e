import assert from "node:assert/strict";
import { test } from "node:test";
import { startProgram } from "../support/program.ts";
import { startService } from "../support/service.ts";
import { aPartner, aRig, call } from "../support/rig.ts";

/** Makes a process's clock an hour fast. */
const AN_HOUR_AHEAD = `--import=data:text/javascript,${encodeURIComponent(
  "const RealDate = Date; globalThis.Date = class extends RealDate { constructor(...of) { super(...(of.length > 0 ? of : [RealDate.now() + 3_600_000])); } };",
)}`;

test("a node whose clock is an hour ahead is not ready, and does not change other nodes' rate windows", async (t) => {
  const rig = await aRig(t);
  const right = await startService(t, rig);
  const ahead = await startProgram(t, { ...rig, NODE_OPTIONS: AN_HOUR_AHEAD, ROLE: "api" });
  const partner = await aPartner(right, "acme");
  const me = async ({ partnerUrl }: { partnerUrl: string }) =>
    call(`${partnerUrl}/api/v1/partner/me`, { token: partner.token });

  const ready = await fetch(`${ahead.operatorUrl}/readyz`);
  assert.equal(ready.status, 503);
  assert.match(
    await ready.text(),
    /"name":"clock","ok":false,"detail":"3600(\.\d)? s from the database's clock/,
  );

  const open = (answer: { headers: Headers }) =>
    Number(/t=(\d+)/.exec(answer.headers.get("ratelimit") ?? "")?.[1]);
  assert.ok(open(await me(ahead)) <= 60);
  assert.ok(open(await me(right)) <= 60);
  assert.ok(open(await me(ahead)) <= 60);
});
