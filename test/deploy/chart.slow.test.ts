// Depends on: deploy, src, docs

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { parse, parseAllDocuments } from "yaml";
import { readConfiguration } from "../../src/bridge/configuration.ts";
import { loadConfig } from "../../src/config/config.ts";
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
const GATEWAY = [
  ...["gateway.enabled=true", "gateway.cells[0].name=zz,gateway.cells[0].url=http://cell-zz:8081"],
  "gateway.cells[1].name=01,gateway.cells[1].url=http://cell-01:8081",
];
const BRIDGE = [
  ...["bridge.enabled=true", "bridge.sources[0].name=orders,bridge.sources[0].kind=outbox"],
  "bridge.sources[0].url.env=OUTBOX_URL",
];
const EVERYTHING = [
  ...[...SPLIT, ...GATEWAY, ...BRIDGE, "serviceMonitor.enabled=true", "podMonitor.enabled=true"],
  ...["serviceMonitor.labels.release=prometheus", "podAnnotations.a=b", "priorityClassName=high"],
  ...["ingress.enabled=true", "ingress.className=nginx", "ingress.tlsSecret=tls"],
  ...[
    "httpRoute.enabled=true",
    "httpRoute.parentRefs[0].name=public",
    "httpRoute.keysOfTheCell=true",
  ],
  ...["volumes[0].name=ca", "volumes[0].configMap.name=ca", "tolerations[0].operator=Exists"],
  ...[
    "volumeMounts[0].name=ca",
    "volumeMounts[0].mountPath=/ca",
    "networkPolicy.egress[0].to[0].ipBlock.cidr=10.1.0.0/16",
  ],
  ...["api", "dispatcher"].map((role) => `roles.${role}.autoscaling.enabled=true`),
  ...["settings.RETENTION=7d", "imagePullSecrets[0].name=pull", "nodeSelector.disk=ssd"],
];

/** The options with which docs/bridge.md adds a bridge to a release. */
async function optionsOfThePage(): Promise<string[]> {
  const page = await readFile(join(ROOT, "docs/bridge.md"), "utf8");
  const [, command = ""] =
    /helm upgrade partner-api deploy\/helm --reuse-values (.*?)\n\n/s.exec(page) ?? [];
  const options = [...command.matchAll(/(--set(?:-json)?) (?:'([^']+)'|(\S+))/g)];
  assert.equal(options.length, 3);
  return options.flatMap(([, flag = "", quoted, bare = ""]) => [flag, quoted ?? bare]);
}

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
  assert.match(job, /hook-output-log-policy: hook-failed/); // So helm prints why it failed.
  const deployment = objectOf(rendered, "Deployment", "partner-api-all");
  assert.doesNotMatch(deployment, /MIGRATION_DATABASE_URL/);
  assert.match(deployment, /terminationGracePeriodSeconds: 90/);

  for (const [values, complaint] of [
    ["settings.DATABASE_URL=postgres://x", /DATABASE_URL/],
    ["settings.CELL=01", /CELL/],
    ["settings.WORKERS=2", /WORKERS/],
    ["roles.all.workers=0", /workers/],
    ["serviceMonitor.enabled=true", /networkPolicy\.operators/],
    ["podMonitor.enabled=true", /networkPolicy\.operators/],
    ["httpRoute.enabled=true", /parentRefs/],
    ["gateway.enabled=true", /gateway\.cells must name the cells/],
    ["bridge.enabled=true", /bridge\.sources must name a source/],
    [[...BRIDGE, "roles.all.enabled=false"].join(), /bridge\.apiUrl must name/],
    ["roles.all.enabled=false,roles.api.enabled=true", /both roles\.api/],
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

test("the chart gives the pods of a role their number of workers", async (t) => {
  if (!(await requireProgram(t, "go", ["version"]))) return;
  const rendered = await template("--set", [...SPLIT, "roles.dispatcher.workers=auto"].join());
  for (const [role, workers] of [
    ["api", "1"],
    ["dispatcher", "auto"],
  ] as const) {
    const deployment = objectOf(rendered, "Deployment", `partner-api-${role}`);
    assert.match(deployment, new RegExp(`name: WORKERS, value: "${workers}"`));
  }
});

test("every pod of the chart is scheduled alike, and no pod has a token of Kubernetes", async (t) => {
  if (!(await requireProgram(t, "go", ["version"]))) return;
  const values = [...EVERYTHING, "networkPolicy.enabled=false"].join();
  const specs = podSpecsOf(await template("--set", values));
  assert.deepEqual([...specs.keys()].sort(), [
    ...["Deployment partner-api-api", "Deployment partner-api-bridge"],
    "Deployment partner-api-dispatcher",
    ...["Deployment partner-api-gateway", "Job partner-api-migrate"],
    ...["Pod partner-api-test", "Pod partner-api-test-gateway"],
  ]);
  for (const [name, spec] of specs) {
    const { automountServiceAccountToken, enableServiceLinks, priorityClassName } = spec;
    assert.deepEqual([automountServiceAccountToken, enableServiceLinks], [false, false], name);
    assert.deepEqual([priorityClassName, spec.nodeSelector], ["high", { disk: "ssd" }], name);
    assert.deepEqual(spec.tolerations, [{ operator: "Exists" }], name);
    assert.deepEqual(spec.imagePullSecrets, [{ name: "pull" }], name);
    const [container] = spec.containers;
    assert.equal(container?.securityContext.readOnlyRootFilesystem, true, name);
    const { initialDelaySeconds } = container.startupProbe ?? { initialDelaySeconds: 1 };
    assert.equal(initialDelaySeconds, 1, `${name}: an earlier probe fails at every start`);
    const zones = spec.topologySpreadConstraints?.map(({ topologyKey }) => topologyKey);
    if (name.startsWith("Deployment"))
      assert.deepEqual(zones, ["topology.kubernetes.io/zone", "kubernetes.io/hostname"], name);
  }
});

test("a release can be a gateway alone: it needs no database, and reaches the cells only", async (t) => {
  if (!(await requireProgram(t, "go", ["version"]))) return;
  const rendered = await template("--set", [...GATEWAY, "roles.all.enabled=false"].join());
  const kinds = [...rendered.matchAll(/^kind: (.*)$/gm)].map(([, kind]) => kind).sort();
  assert.deepEqual(kinds, ["Deployment", "NetworkPolicy", "Pod", "PodDisruptionBudget", "Service"]);
  assert.doesNotMatch(rendered, /DATABASE_URL|SEALING_KEYS|0\.0\.0\.0\/0/);
  const gateway = objectOf(rendered, "Deployment", "partner-api-gateway");
  assert.match(gateway, /CELLS\n +value: zz=http:\/\/cell-zz:8081 01=http:\/\/cell-01:8081/);
});

test("by the page's command, a bridge has its sources as a file, its secrets as variables, and reaches the operators' listener and what `egress` names", async (t) => {
  if (!(await requireProgram(t, "go", ["version"]))) return;
  const rendered = await template(...(await optionsOfThePage()));
  const config = parse(objectOf(rendered, "ConfigMap", "partner-api-bridge")) as {
    data: Record<string, string>;
  };
  const faults: string[] = [];
  const secrets = { env: { OUTBOX_URL: "postgres://db/shop" }, readFile: () => "" };
  const sources = readConfiguration(config.data["bridge.yaml"] ?? "", secrets, faults);
  assert.deepEqual([sources.map(({ name }) => name), faults], [["orders"], []]);

  const deployment = objectOf(rendered, "Deployment", "partner-api-bridge");
  assert.match(deployment, /PARTNER_API_URL, value: "http:\/\/partner-api-operators:8081"/);
  assert.match(deployment, /envFrom:\n +- secretRef: \{ name: partner-api-bridge \}/);
  assert.doesNotMatch(deployment, /DATABASE_URL|SEALING_KEYS|ADMIN_TOKEN/);
  const own = objectOf(rendered, "NetworkPolicy", "partner-api-bridge");
  assert.match(own, /ingress: \[\]/);
  assert.match(own, /cidr: 10\.2\.0\.0\/16/);
  assert.doesNotMatch(own, /0\.0\.0\.0\/0/);
  const service = objectOf(rendered, "NetworkPolicy", "partner-api-all");
  assert.match(service, /port: operators \}\]\n +from: .*"partner-api-bridge"/);

  const alone = await template(
    "--set",
    [...BRIDGE, "roles.all.enabled=false", "bridge.apiUrl=http://operators:8081"].join(),
  );
  const kinds = [...alone.matchAll(/^kind: (.*)$/gm)].map(([, kind]) => kind).sort();
  assert.deepEqual(kinds, ["ConfigMap", "Deployment", "NetworkPolicy", "PodDisruptionBudget"]);
});

test("the operators' Service leads to processes that have the API", async (t) => {
  if (!(await requireProgram(t, "go", ["version"]))) return;
  const split = objectOf(await template("--set", SPLIT.join()), "Service", "partner-api-operators");
  assert.match(split, /^ {4}partner-api\/role: api$/m);
});

test("a gateway in the cluster may call a cell by the names of its Service", async (t) => {
  if (!(await requireProgram(t, "go", ["version"]))) return;
  const rendered = await template("--namespace", "partners");
  objectOf(rendered, "Service", "partner-api-operators");
  const [, hosts = ""] = /ALLOWED_HOSTS, value: "(.*)"/.exec(rendered) ?? [];
  const { allowedHosts } = loadConfig({ ALLOWED_HOSTS: hosts });
  assert.ok(allowedHosts.includes("partner-api-operators.partners"), hosts);
  const own = await template("--set", "settings.ALLOWED_HOSTS=ops.example.com");
  const deployment = objectOf(own, "Deployment", "partner-api-all");
  assert.deepEqual(deployment.match(/ALLOWED_HOSTS.*/g), [
    'ALLOWED_HOSTS, value: "ops.example.com" }',
  ]);
});

test("a cell's route takes the keys that haproxy sends to the cell", async (t) => {
  if (!(await requireProgram(t, "go", ["version"]))) return;
  const set =
    "httpRoute.enabled=true,httpRoute.parentRefs[0].name=public,httpRoute.keysOfTheCell=true";
  const route = objectOf(
    await template("--set", set, "--set-string", "cell=01"),
    "HTTPRoute",
    "partner-api",
  );
  const [, pattern = ""] = /value: "(.*vck.*)"/.exec(route) ?? [];
  const isTaken = (key: string) => new RegExp(`^(?:${pattern})$`).test(key);
  const rest = `${"x".repeat(18)}.${"s".repeat(43)}`;
  for (const scheme of ["Bearer ", "bearer  ", "BEARER ", ""]) {
    assert.ok(isTaken(`${scheme}vck_01${rest}`), scheme);
    assert.ok(!isTaken(`${scheme}vck_00${rest}`), scheme);
  }
  assert.match(route, /hostnames: \[partners\.example\.com\]/);
});

test("a monitor names the cell of a service's metrics, and leaves those of a gateway alone", async (t) => {
  if (!(await requireProgram(t, "go", ["version"]))) return;
  const set = ["podMonitor.enabled=true,serviceMonitor.enabled=true", ...GATEWAY].join();
  const operators = `networkPolicy.operators=${PROMETHEUS}`;
  const rendered = await template("--set", set, "--set-json", operators);
  for (const kind of ["PodMonitor", "ServiceMonitor"]) {
    const { spec } = parse(objectOf(rendered, kind, "partner-api")) as { spec: Monitor };
    const [endpoint] = spec.podMetricsEndpoints ?? spec.endpoints ?? [];
    assert.deepEqual(
      endpoint?.relabelings.map((one) => [one.regex, one.targetLabel, one.replacement]),
      [["partner-api", "cell", "00"]],
      kind,
    );
  }
});

test("values.yaml and its schema name the same values", async () => {
  const read = async (file: string) => parse(await readFile(join(CHART, file), "utf8")) as object;
  const values = (await read("values.yaml")) as Record<string, unknown>;
  const { properties } = (await read("values.schema.json")) as { properties: object };
  const typed = Object.keys(properties).filter((name) => name !== "global"); // That is helm's own.
  assert.deepEqual(Object.keys(values).sort(), typed.sort());
});

interface Monitor {
  podMetricsEndpoints?: Monitor["endpoints"];
  endpoints?: { relabelings: { regex: string; targetLabel: string; replacement: string }[] }[];
}

interface PodSpec {
  automountServiceAccountToken?: boolean;
  enableServiceLinks?: boolean;
  priorityClassName?: string;
  nodeSelector?: object;
  tolerations?: object[];
  imagePullSecrets?: object[];
  topologySpreadConstraints?: { topologyKey: string }[];
  containers: {
    securityContext: { readOnlyRootFilesystem: boolean };
    startupProbe?: { initialDelaySeconds: number };
  }[];
}

/** The pods of a rendered chart, by the kind and the name of what creates them. */
function podSpecsOf(rendered: string): Map<string, PodSpec> {
  const found = new Map<string, PodSpec>();
  for (const document of parseAllDocuments(rendered)) {
    const { kind, metadata, spec } = document.toJS() as {
      kind: string;
      metadata: { name: string };
      spec?: PodSpec & { template?: { spec: PodSpec } };
    };
    const pod = spec?.template?.spec ?? (kind === "Pod" ? spec : null);
    if (pod) found.set(`${kind} ${metadata.name}`, pod);
  }
  return found;
}
