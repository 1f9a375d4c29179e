import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test, type TestContext } from "node:test";
import { type Program, startProgram } from "../support/program.ts";
import { startLocalReceiver } from "../support/receiver.ts";
import { aPartner, aRig } from "../support/rig.ts";

const DESCRIPTORS = 1_024;
const STRANGERS = 1_200;

test("more unauthenticated clients than descriptors block no caller and no delivery", async (t) => {
  const rig = await aRig(t, { DISPATCH_CONCURRENCY: "256" });
  const program = await startProgram(t, rig, { descriptors: DESCRIPTORS });
  const told = program.log.find(({ msg }) => msg === "connection limits");
  assert.equal(told?.["descriptors"], DESCRIPTORS);
  const partner = await aPartner(program, "acme");
  const receiver = await startLocalReceiver(t);
  const subscription = await partner.subscribe(receiver.url());

  for (const url of [program.partnerUrl, program.operatorUrl]) await openMany(t, url);
  assert.equal((await fetch(`${program.partnerUrl}/readyz`)).status, 200);
  assert.equal((await fetch(`${program.operatorUrl}/readyz`)).status, 200);
  assert.equal((await partner.ping(subscription)).status, 200);
  await receiver.next();
  assert.deepEqual(complaints(program), []);
});

test("a process with too few descriptors fails with one clear line", async (t) => {
  const starting = startProgram(t, await aRig(t), { descriptors: 200 });
  await assert.rejects(starting, /the limit of open files is 200: the service needs 256\n$/);
});

test("a process warns if its attempts may need more descriptors than it has", async (t) => {
  const rig = await aRig(t, { DISPATCH_CONCURRENCY: "1000" });
  const program = await startProgram(t, rig, { descriptors: DESCRIPTORS });
  assert.match(complaints(program).join(), /open files is too low for DISPATCH_CONCURRENCY/);
});

/** Opens silent connections, a hundred at a time. */
async function openMany(t: TestContext, url: string): Promise<void> {
  const port = Number(new URL(url).port);
  for (let opened = 0; opened < STRANGERS; opened += 100) {
    const some = Array.from({ length: 100 }, () => {
      const socket = connect(port, "127.0.0.1");
      t.after(() => socket.destroy());
      const connected = once(socket, "connect");
      socket.on("error", () => undefined); // It may be closed in favour of another one.
      return connected;
    });
    await Promise.all(some);
  }
}

/** Warnings and errors, except for those that every rig causes. */
function complaints({ log }: Program): unknown[] {
  return log
    .filter(({ level, msg }) => Number(level) >= 40 && !String(msg).startsWith("EGRESS_"))
    .map(({ msg }) => msg);
}
