import assert from "node:assert/strict";
import { test } from "node:test";
import { runProgram, startProgram } from "../support/program.ts";
import { aPartner, aRig } from "../support/rig.ts";

const ring = (id: string) => `${id}:${Buffer.alloc(32, id).toString("base64")}`;

test("doctor finds a set-up in order, and a ring that lacks the key of a sealed secret", async (t) => {
  const rig = { ...(await aRig(t)), SEALING_KEYS: ring("old") };
  const program = await startProgram(t, rig);
  await (await aPartner(program, "acme")).subscribe("https://127.0.0.1/hooks");
  assert.equal(await program.end("SIGTERM"), 0);

  // Nor does it need the owner's role any more, once the schema is there.
  const confined = { ...rig, MIGRATION_DATABASE_URL: "" };
  const rotated = await runProgram(["doctor"], {
    ...confined,
    SEALING_KEYS: `${ring("new")},${ring("old")}`,
  });
  assert.match(rotated.stdout, /^ok +sealing keys +2 in the ring: new seals 0, old seals 1$/m);
  assert.match(rotated.stdout, /^ok +database role +\w+ has its rows and no more$/m);

  const lost = await runProgram(["doctor"], { ...confined, SEALING_KEYS: ring("new") });
  assert.equal(lost.status, 1);
  assert.match(lost.stdout, /^FAULT +sealing keys .* 1 of the sealed secrets/m);
});
