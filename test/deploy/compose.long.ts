import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { requireProgram } from "../support/required.ts";
import { ROOT } from "../support/root.ts";
import { COMPOSE, goRun } from "./go-programs.ts";

test("compose.yaml is a valid composition, and new-secrets.sh prints every secret of it", async (t) => {
  if (!(await requireProgram(t, "go", ["version"]))) return;
  const file = join(ROOT, "deploy/compose.yaml");
  const { stdout } = await goRun(COMPOSE, "-no-interpolation", file);
  for (const name of ["database", "migrate", "node-a", "node-b", "balancer", "prometheus"]) {
    assert.match(stdout, new RegExp(`^ {4}${name}:$`, "m"));
  }
  const { stdout: secrets } = await promisify(execFile)(join(ROOT, "deploy/new-secrets.sh"));
  const wanted = (await readFile(file, "utf8")).matchAll(/\$\{(\w+):\?/g);
  for (const [, name = ""] of wanted) assert.ok(secrets.includes(`${name}=`), name);
});
