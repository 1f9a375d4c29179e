// Depends on: src, deploy

import assert from "node:assert/strict";
import { test } from "node:test";
import { startHaproxy } from "../support/haproxy.ts";
import { startLocalReceiver } from "../support/receiver.ts";
import { requireProgram } from "../support/required.ts";
import { aPartner, aRig } from "../support/rig.ts";
import { duplicatesOf, Node, startLoad } from "../support/rolling-load.ts";

/** The restarts of each node. */
const RESTARTS = Number(process.env["RESTARTS"] ?? 1);
const UNLIMITED = { rateLimitPerMinute: 1_000_000 };

const SET_UPS = {
  "two nodes": ["all", "all"],
  "two api nodes and two dispatchers": ["api", "api", "dispatcher", "dispatcher"],
};

for (const [setUp, roles] of Object.entries(SET_UPS)) {
  test(`while ${setUp} restart in turn under load, no request fails and no event is lost or sent twice`, async (t) => {
    if (!(await requireProgram(t, "haproxy", ["-v"]))) return;
    const rig = { ...(await aRig(t)), DRAIN: "3s" };
    const nodes = await Promise.all(roles.map((role) => Node.start(t, { ...rig, ROLE: role })));
    const serving = nodes.filter(({ role }) => role !== "dispatcher");
    const balancer = await startHaproxy(
      t,
      serving.map(({ port }) => port),
    );
    const receiver = await startLocalReceiver(t);
    const [first] = nodes;
    assert.ok(first);
    const partner = await aPartner(first.program, "acme", UNLIMITED);
    const subscription = await partner.subscribe(receiver.url());
    const load = startLoad(balancer.url, subscription, partner.token);

    for (let turn = 0; turn < RESTARTS; turn++) {
      for (const node of nodes) {
        assert.equal(await node.restart(), 0);
        if (serving.includes(node)) await balancer.uses(node.port);
      }
    }

    await load.stop();
    const { failed } = load;
    const published = load.published.all;
    t.diagnostic(`${published.length} requests over ${RESTARTS} restarts of each node`);
    assert.deepEqual(failed, []);
    assert.ok(published.length > 0);
    assert.deepEqual(await duplicatesOf(published, receiver), []);
  });
}
