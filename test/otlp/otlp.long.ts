import assert from "node:assert/strict";
import { test } from "node:test";
import { startProgram } from "../support/program.ts";
import { startLocalReceiver } from "../support/receiver.ts";
import { status } from "../support/receiver-scripts.ts";
import { requireProgram } from "../support/required.ts";
import { aPartner, aRig } from "../support/rig.ts";
import { namesByTrace, startRealCollector } from "./collector.ts";

test("OpenTelemetry's collector receives an event's request and attempts as one trace", async (t) => {
  if (!(await requireProgram(t, "go", ["version"]))) return;
  const collector = await startRealCollector(t);
  const program = await startProgram(
    t,
    await aRig(t, { RETRY_DELAYS: "10ms", OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }),
  );
  const receiver = await startLocalReceiver(t);
  receiver.answer(status(500), status(204));
  const partner = await aPartner(program, "acme");
  await partner.ping(await partner.subscribe(receiver.url("/hooks")));
  for (let attempt = 1; attempt <= 2; attempt++) await receiver.next();
  assert.equal(await program.end("SIGTERM"), 0); // Which exports what is left.

  const text = await collector.until((lines) => lines.split(/Name +: attempt\n/).length > 2);
  const trace = [...namesByTrace(text).values()].find((names) => names.includes("attempt")) ?? [];
  assert.equal(trace.filter((name) => name === "attempt").length, 2);
  for (const name of [
    ...["POST /api/v1/partner/webhooks/:id/test", "publish"],
    ...["look-up", "connect", "tls", "first byte"],
  ]) {
    assert.ok(trace.includes(name), `${name} is not in ${trace.join(", ")}`);
  }
});
