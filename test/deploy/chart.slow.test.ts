// Depends on: deploy, src

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { requireProgram } from "../support/required.ts";
import { ROOT } from "../support/root.ts";
import { writeChartSchemas } from "./chart-schemas.ts";
import { goRun, HELM, KUBECONFORM } from "./go-programs.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const CHART = join(ROOT, "deploy/helm");

const template = async (...args: string[]) => {
  const options = ["--kube-version", "1.34.1", ...args];
  return (await goRun(HELM, "template", "partner-api", CHART, ...options)).stdout;
};

const SPLIT = [
  "roles.all.enabled=false",
  "roles.api.enabled=true",
  "roles.dispatcher.enabled=true",
];
const PROMETHEUS = '[{"namespaceSelector":{"matchLabels":{"name":"monitoring"}}}]';
const EVERYTHING = [
  ...[...SPLIT, "serviceMonitor.enabled=true", "serviceMonitor.labels.release=prometheus"],
  ...["api", "dispatcher"].map((role) => `roles.${role}.autoscaling.enabled=true`),
  ...["settings.RETENTION=7d", "imagePullSecrets[0].name=pull", "nodeSelector.disk=ssd"],
];

/** The part of a rendered chart with one object. */
function objectOf(rendered: string, kind: string, name: string): string {
  const found = rendered
    .split(/^---$/m)
    .find((one) => one.includes(`\nkind: ${kind}\n`) && one.includes(`\n  name: ${name}\n`));
  assert.ok(found, `${kind} ${name}`);
  return found;
}

test("the chart passes helm's linter and the schemas of Kubernetes, with few and with many values", async (t) => {
  if (!(await requireProgram(t, "go", ["version"]))) return;
  const folder = await aTemporaryFolder(t);
  const schemas = await writeChartSchemas(join(folder, "schemas"));
  await goRun(HELM, "lint", "--strict", "--kube-version", "1.34.1", CHART);

  const rendered = {
    few: await template(),
    many: await template(
      "--set",
      EVERYTHING.join(),
      "--set-json",
      `networkPolicy.operators=${PROMETHEUS}`,
    ),
  };
  for (const [name, text] of Object.entries(rendered)) {
    const file = join(folder, `${name}.yaml`);
    await writeFile(file, text);
    const { stdout } = await goRun(
      KUBECONFORM,
      "-strict",
      "-summary",
      "-schema-location",
      schemas,
      file,
    );
    assert.match(stdout, /Valid: [1-9][0-9]*, Invalid: 0, Errors: 0, Skipped: 0/);
  }

  const wrong = join(folder, "wrong.yaml");
  await writeFile(wrong, rendered.few.replace("maxUnavailable: 1", "maxUnavailble: 1"));
  await assert.rejects(goRun(KUBECONFORM, "-strict", "-schema-location", schemas, wrong));
});

test("the chart lets dispatchers send, and nobody reach the operators' listener", async (t) => {
  if (!(await requireProgram(t, "go", ["version"]))) return;
  const closed = await template("--set", SPLIT.join());
  const dispatcher = objectOf(closed, "NetworkPolicy", "partner-api-dispatcher");
  assert.match(dispatcher, /^ {2}ingress: \[\]$/m);
  assert.match(dispatcher, /cidr: 0\.0\.0\.0\/0, except: .*"169\.254\.0\.0\/16"/);
  const api = objectOf(closed, "NetworkPolicy", "partner-api-api");
  assert.doesNotMatch(api, /port: operators|0\.0\.0\.0\/0/);
  assert.match(api, /port: partners/);

  const open = await template("--set-json", `networkPolicy.operators=${PROMETHEUS}`);
  const all = objectOf(open, "NetworkPolicy", "partner-api-all");
  assert.match(all, /port: operators \}\]\n {6}from: \[\{"namespaceSelector"/);
});

test("the chart reads secrets from outside, migrates before it installs, and refuses invalid values", async (t) => {
  if (!(await requireProgram(t, "go", ["version"]))) return;
  const rendered = await template("--set", "drain=1m,shutdownGraceSeconds=20");
  assert.doesNotMatch(rendered, /^kind: Secret$/m);
  const job = objectOf(rendered, "Job", "partner-api-migrate");
  assert.match(job, /helm\.sh\/hook: pre-install,pre-upgrade/);
  assert.match(job, /MIGRATION_DATABASE_URL\n +valueFrom: \{ secretKeyRef:/);
  const deployment = objectOf(rendered, "Deployment", "partner-api-all");
  assert.doesNotMatch(deployment, /MIGRATION_DATABASE_URL/);
  assert.match(deployment, /terminationGracePeriodSeconds: 90/);

  for (const [values, complaint] of [
    ["settings.DATABASE_URL=postgres://x", /DATABASE_URL/],
    ["settings.CELL=01", /CELL/],
    ["serviceMonitor.enabled=true", /networkPolicy\.operators/],
    ["roles.api.enabled=true", /either roles\.all/],
    ["roles.all.enabled=false", /enable roles\.all/],
    ["replicas=3", /replicas/],
  ] as const) {
    await assert.rejects(template("--set", values), complaint);
  }
});

test("the chart gives every process and the migration the name of the cell", async (t) => {
  if (!(await requireProgram(t, "go", ["version"]))) return;
  const rendered = await template("--set-string", "cell=01");
  for (const [kind, name] of [
    ["Deployment", "partner-api-all"],
    ["Job", "partner-api-migrate"],
  ] as const) {
    const object = objectOf(rendered, kind, name);
    assert.match(object, /name: CELL, value: "01"/);
    assert.match(object, /name: DATABASE_URL\n +valueFrom: \{ secretKeyRef:/);
  }
  await assert.rejects(template("--set-string", "cell=1"), /cell/);
});
