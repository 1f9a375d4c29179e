import assert from "node:assert/strict";
import { test } from "node:test";
import { loadGatewayConfig } from "../../src/gateway/config.ts";
import { ADMIN_TOKEN, run, runProgram, startProgram, untilReady } from "../support/program.ts";
import { aRig, call } from "../support/rig.ts";
import { startService } from "../support/service.ts";

interface Items {
  unreachable?: string[];
}

test("one error names every fault of the gateway's settings, and no secret", () => {
  const faultsOf = (env: Record<string, string>) => {
    try {
      loadGatewayConfig(env);
      return [];
    } catch (error) {
      return (error as Error).message.split("\n  ").slice(1);
    }
  };
  assert.deepEqual(faultsOf({}), [
    "ADMIN_TOKEN must be set, as the cells have it",
    "CELLS must be set: name=url for each cell, with white space between them",
  ]);
  const place = "00=http://127.0.0.1:1";
  const faults = faultsOf({
    CELLS: `${place} 00=http://127.0.0.1:2 zzz=http://127.0.0.1:3 01=ftp://x`,
    ADMIN_TOKEN: "short-secret",
    OPERATOR_PORT: "70000",
    SHUTDOWN_GRACE: "soon",
  });
  assert.equal(faults.length, 5, faults.join("\n"));
  assert.match(faults.join("\n"), /CELLS entry 3 must be name=url/);
  assert.match(faults.join("\n"), /CELLS entry 4 must be name=url/);
  assert.doesNotMatch(faults.join("\n"), /short-secret/);
  const good = { ADMIN_TOKEN, CELLS: place };
  assert.match(
    faultsOf({ ...good, CELLS: `${place} ${place}` }).join(),
    /must not use a name twice.*must not use a URL twice/,
  );
  assert.match(
    faultsOf({ ...good, ADMIN_TOKEN: `a/publish:${ADMIN_TOKEN}` }).join(),
    /another role than publish/,
  );
  assert.deepEqual(faultsOf(good), []);
});

test("the program runs before cells that are stopped, frozen and killed, and stops in order", async (t) => {
  const { status, stderr } = await runProgram(["gateway"], {});
  assert.equal(status, 1);
  assert.match(stderr, /CELLS must be set/);

  const program = await startProgram(t, await aRig(t, { CELL: "01" }));
  const service = await startService(t, await aRig(t, { CELL: "00" }));
  const gateway = await untilReady(
    t,
    run(["gateway"], {
      ...{ ADMIN_TOKEN, OPERATOR_PORT: "0" },
      CELLS: `00=${service.operatorUrl} 01=${program.operatorUrl}`,
    }),
  );
  const list = async () => {
    const url = `${gateway.operatorUrl}/api/v1/admin/organizations`;
    return (await call(url, { token: ADMIN_TOKEN })).body as Items;
  };
  assert.equal((await list()).unreachable, undefined);
  program.process.kill("SIGSTOP");
  assert.deepEqual((await list()).unreachable, ["01"]);
  program.process.kill("SIGCONT");
  while ((await list()).unreachable);
  await program.end("SIGKILL");
  assert.deepEqual((await list()).unreachable, ["01"]);
  assert.equal(await gateway.end("SIGTERM"), 0);
  assert.equal(gateway.log.at(-1)?.["msg"], "stopped");
});
