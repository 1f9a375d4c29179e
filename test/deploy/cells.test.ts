import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, openPort } from "../support/free-port.ts";
import { requireProgram } from "../support/required.ts";
import { ROOT } from "../support/root.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

/** A cell that answers with its name. Returns its backend. */
async function aCell(t: TestContext, name: string): Promise<string> {
  const server = createServer((_request, response) => response.end(name));
  return `backend ${name}\n    server only 127.0.0.1:${await openPort(t, server)}\n`;
}

test("the guide's lines of haproxy send each key to its cell", async (t) => {
  if (!(await requireProgram(t, "haproxy", ["-v"]))) return;
  const guide = await readFile(join(ROOT, "docs/capacity.md"), "utf8");
  const port = await freePort();
  const frontend = (/^ {4}frontend partners\n(?: {8}.*\n)+/m.exec(guide)?.[0] ?? "").replace(
    ":8080",
    `127.0.0.1:${port}`,
  );
  const defaults =
    "defaults\n    mode http\n    timeout connect 2s\n    timeout client 9s\n    timeout server 9s\n";
  const folder = await aTemporaryFolder(t);
  const file = join(folder, "haproxy.cfg");
  await writeFile(file, defaults + frontend + (await aCell(t, "us")) + (await aCell(t, "eu")));
  const balancer = spawn("haproxy", ["-db", "-f", file], { stdio: "ignore" });
  t.after(() => balancer.kill("SIGKILL"));

  const cellOf = async (authorization: string): Promise<string> => {
    for (;;) {
      assert.equal(balancer.exitCode, null, "haproxy runs");
      const headers = { authorization };
      const answer = await fetch(`http://127.0.0.1:${port}/`, { headers }).catch(() => null);
      if (answer) return answer.text();
      await sleep(20);
    }
  };
  const rest = `${"x".repeat(18)}.${"s".repeat(43)}`;
  assert.equal(await cellOf(`Bearer vck_e0${rest}`), "eu");
  assert.equal(await cellOf(`bearer  vck_e0${rest}`), "eu");
  assert.equal(await cellOf(`vck_e0${rest}`), "eu");
  assert.equal(await cellOf(`Bearer vck_00${rest}`), "us");
  assert.equal(await cellOf("Bearer nonsense"), "us");
});
