// Depends on: src, deploy
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Busy } from "../../src/lib/errors.ts";
import { freePort } from "../support/free-port.ts";
import { requireProgram } from "../support/required.ts";
import { aPartner, aRig } from "../support/rig.ts";
import { ROOT } from "../support/root.ts";
import { type RunningService, startService } from "../support/service.ts";

/** Runs haproxy with the configuration of `deploy` in front of the cells. Returns its URL when all of them are in use. */
async function startBalancer(t: TestContext, ports: Record<string, number>): Promise<string> {
  const place = `127.0.0.1:${await freePort()}`;
  const env: NodeJS.ProcessEnv = { PATH: process.env["PATH"], BIND: place };
  for (const [cell, port] of Object.entries(ports)) env[`CELL_${cell}`] = `127.0.0.1:${port}`;
  const file = join(ROOT, "deploy/haproxy/cells.cfg");
  const child = spawn("haproxy", ["-db", "-f", file], { env, stdio: "ignore" });
  const ended = once(child, "exit");
  t.after(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return `http://${place}`;
}

/** Two services, each with a database and a partner of its own, behind haproxy. */
async function twoCells(t: TestContext) {
  const cells = await Promise.all(
    ["00", "01"].map(async (cell) => {
      const env = { ...(await aRig(t)), CELL: cell, PORT: String(await freePort()) };
      const service = await startService(t, env);
      const partner = await aPartner(service, `of-${cell}`, { rateLimitPerMinute: 1_000_000 });
      return { cell, env, service, partner };
    }),
  );
  const [one, other] = cells as [(typeof cells)[number], (typeof cells)[number]];
  const url = await startBalancer(t, {
    "00": Number(one.env.PORT),
    "01": Number(other.env.PORT),
  });
  const ask = async (authorization: string | null, path = "/api/v1/partner/me") => {
    const headers = authorization === null ? {} : { authorization };
    const answer = await fetch(url + path, { headers });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text };
  };
  const until = async (status: number, token: string) => {
    for (;;) {
      const answer = await ask(`Bearer ${token}`).catch(() => null); // haproxy may not listen yet.
      if (answer?.status === status) return answer;
      await sleep(20);
    }
  };
  await Promise.all(cells.map(({ partner }) => until(200, partner.token)));
  return { one, other, ask, until };
}

test("haproxy sends each key to the cell that its id begins with", async (t) => {
  if (!(await requireProgram(t, "haproxy", ["-v"]))) return;
  const { one, other, ask } = await twoCells(t);
  for (const { cell, partner } of [one, other]) {
    assert.match(partner.token, new RegExp(`^vck_${cell}[0-9a-z]{18}\\.`));
    for (const scheme of ["Bearer ", "bearer  ", "BEARER ", ""]) {
      const { status, text } = await ask(scheme + partner.token);
      assert.equal(status, 200, scheme);
      assert.equal((JSON.parse(text) as { partner_org: string }).partner_org, `of-${cell}`);
    }
  }
  const rest = `${"x".repeat(18)}.${"s".repeat(43)}`;
  for (const wrong of [`Bearer vck_01${rest}`, `Bearer vck_zz${rest}`, "Bearer nonsense", null]) {
    assert.equal((await ask(wrong)).status, 401, String(wrong));
  }
});

for (const [what, isFirst] of [
  ["the first cell", true],
  ["another cell", false],
] as const) {
  test(`while ${what} is away, its partners get 503 and the others notice nothing`, async (t) => {
    if (!(await requireProgram(t, "haproxy", ["-v"]))) return;
    const { one, other, ask, until } = await twoCells(t);
    const [away, well] = isFirst ? [one, other] : [other, one];
    const refused: unknown[] = [];
    const load = { isOver: false };
    const noticed = (async () => {
      while (!load.isOver) {
        const { status, text } = await ask(`Bearer ${well.partner.token}`);
        if (status !== 200) refused.push({ status, text });
        await sleep(5); // Both services and this test share a thread.
      }
    })();

    await away.service.stop();
    const { headers, text } = await until(503, away.partner.token);
    assert.match(headers.get("retry-after") ?? "", /^[1-9]/);
    assert.equal(headers.get("content-type"), "application/problem+json");
    assert.equal(headers.get("cache-control"), "no-store");
    const { message: detail } = new Busy();
    assert.deepEqual(JSON.parse(text), {
      ...{ type: "about:blank", title: "Service unavailable", status: 503, code: "unavailable" },
      ...{ detail, request_id: headers.get("x-request-id") },
    });
    assert.equal((await ask(null, "/api/v1/partner/openapi.json")).status, 200);
    assert.equal((await ask("Bearer nonsense")).status, 401);

    const back: RunningService = await startService(t, away.env);
    await until(200, away.partner.token);
    load.isOver = true;
    await noticed;
    assert.deepEqual(refused, []);
    await back.stop();
  });
}
