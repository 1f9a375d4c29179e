import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { BridgeMetrics } from "../../src/bridge/metrics.ts";
import { guideCommand } from "../support/guide.ts";
import { requireProgram } from "../support/required.ts";
import { ROOT } from "../support/root.ts";

const OPS = join(ROOT, "ops");
const rules = await readFile(join(OPS, "alerts.yml"), "utf8");
const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = ""]) => name);

test("the alert rules fire when they should and stay silent when they should", async (t) => {
  if (!(await requireProgram(t, "promtool", ["--version"]))) return;
  await promisify(execFile)("promtool", ["check", "rules", "alerts.yml"], { cwd: OPS });
  await promisify(execFile)("sh", ["-c", await guideCommand(/^promtool/)], { cwd: ROOT });
});

test("each alert has a case in which it fires", async () => {
  const cases = await readFile(join(OPS, "alerts.test.yml"), "utf8");
  assert.ok(alerts.length >= 7);
  for (const name of alerts) {
    assert.match(cases, new RegExp(`alertname: ${name}\\n +exp_alerts:\\n +- exp_labels`), name);
  }
});

test("each alert leads to a section of the operations guide that names it and its severity", async () => {
  const guide = await readFile(join(ROOT, "docs/operations.md"), "utf8");
  const sections = new Map(
    guide.split(/^#{2,4} /m).map((section) => {
      const [heading = "", ...text] = section.split("\n");
      const anchor = heading.toLowerCase().replace(/[^a-z0-9 -]/g, "");
      return [anchor.replaceAll(" ", "-"), text.join("\n")];
    }),
  );
  const told =
    /- alert: (\w+)\n(?:(?! {6}- alert).*\n)*? +labels: \{ severity: (\w+) \}\n(?:(?! {6}- alert).*\n)*? +runbook: docs\/operations\.md#(\S+)/g;
  const runbooks = [...rules.matchAll(told)];
  assert.equal(runbooks.length, alerts.length);
  for (const [, name = "", severity = "", anchor = ""] of runbooks) {
    const section = sections.get(anchor) ?? "";
    assert.match(section, new RegExp(`\`${name}\`(?:, \`\\w+\`)*, ${severity}\\b`), name);
  }
});

test("the alert rules and the dashboard ask for metrics that the service exposes", async () => {
  const sources = await Promise.all(
    ["observe/metrics.ts", "gateway/metrics.ts"].map((file) =>
      readFile(join(ROOT, "src", file), "utf8"),
    ),
  );
  sources.push((await bridgesNames()).map((name) => `"${name}"`).join());
  const dashboard = await readFile(join(OPS, "dashboard.json"), "utf8");
  const asked = new Set(
    [...(rules + dashboard).matchAll(/partner_api_[a-z_]+/g)].map(([name]) => name),
  );
  for (const name of asked) {
    const metric = name.replace(/_(bucket|count|sum)$/, "");
    assert.ok(
      sources.some((text) => text.includes(`"${metric}"`)),
      name,
    );
  }
});

async function bridgesNames(): Promise<string[]> {
  const { body } = await new BridgeMetrics().expose([]);
  return [...body.matchAll(/^# TYPE (\w+)/gm)].map(([, name = ""]) => name);
}
