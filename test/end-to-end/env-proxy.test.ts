import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { anEnvProxy, USES_PROXIES } from "../support/env-proxy.ts";
import { freePort } from "../support/free-port.ts";
import { ADMIN_TOKEN, runProgram, startProgram } from "../support/program.ts";
import { aRig, aSubscriber } from "../support/rig.ts";

const WAYS = ["NODE_USE_ENV_PROXY", "NODE_OPTIONS"] as const;

for (const way of WAYS) {
  test(`with ${way}, no delivery and no request to this machine leaves through a proxy`, async (t) => {
    const { asked, variables } = await anEnvProxy(t);
    const { NODE_USE_ENV_PROXY, ...proxies } = variables;
    const switched = { NODE_USE_ENV_PROXY, NODE_OPTIONS: "--use-env-proxy" };
    const on = USES_PROXIES ? { [way]: switched[way] } : {};
    const ports = { PORT: String(await freePort()), OPERATOR_PORT: String(await freePort()) };
    const rig = await aRig(t);
    const env = { ...rig, ...ports, ...proxies, ...on };
    const program = await startProgram(t, env);
    const { receiver, partner, subscription } = await aSubscriber(t, program);
    await partner.ping(subscription);
    await receiver.next();

    const commands = { ...env, PARTNER_API_TOKEN: ADMIN_TOKEN };
    for (const host of ["127.0.0.1", "localhost"]) {
      const PARTNER_API_URL = `http://${host}:${ports.OPERATOR_PORT}`;
      const listed = await runProgram(["org", "list"], { ...commands, PARTNER_API_URL });
      assert.match(listed.stdout, /acme/, listed.stderr);
    }
    const { stdout } = await runProgram(["doctor"], { ...env, ADMIN_TOKEN });
    assert.match(stdout, /127\.0\.0\.1:\d+ is in use by this service/);

    const PARTNER_API_URL = program.operatorUrl;
    const config = join(rig["DATA_DIR"] ?? "", "bridge.yaml");
    const source = { name: "o", kind: "outbox", url: rig["DATABASE_URL"], table: "none" };
    await writeFile(config, JSON.stringify({ sources: [source] }));
    const bridge = ["bridge", "--check", "--config", config];
    const checked = await runProgram(bridge, { ...commands, PARTNER_API_URL });
    assert.match(checked.stdout, /^ok.*service/m, checked.stdout + checked.stderr);
    assert.deepEqual(asked, []);
  });
}

test("the command line reaches another machine through the proxy of Node.js", async (t) => {
  const { asked, variables } = await anEnvProxy(t);
  const PARTNER_API_URL = "https://operators.partner-api.invalid";
  const env = { ...variables, PARTNER_API_URL, PARTNER_API_TOKEN: ADMIN_TOKEN };
  assert.equal((await runProgram(["org", "list"], env)).status, 1);
  const { hostname } = new URL(PARTNER_API_URL);
  assert.deepEqual(asked, USES_PROXIES ? [`CONNECT ${hostname}:443 HTTP/1.1`] : []);
});
