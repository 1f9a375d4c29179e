import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { parse } from "yaml";

const KUBERNETES = "k8s.io/kubernetes@v1.34.1";
const OPERATOR = "github.com/prometheus-operator/prometheus-operator@v0.76.2";
const GATEWAY_API = "sigs.k8s.io/gateway-api@v1.3.0";

interface Schema {
  $ref?: string;
  type?: string;
  format?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: unknown;
  [key: string]: unknown;
}

interface Definition extends Schema {
  "x-kubernetes-group-version-kind"?: { group: string; version: string; kind: string }[];
}

/** A kind that Kubernetes does not have by itself. */
interface Crd {
  spec: {
    group: string;
    names: { kind: string };
    versions: { name: string; schema: { openAPIV3Schema: Schema } }[];
  };
}

/**
 * Writes the JSON Schemas for kubeconform, from the Go modules of Kubernetes, of the Prometheus operator and of the Gateway API.
 */
export async function writeChartSchemas(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const swagger = join(await moduleFolder(KUBERNETES), "api/openapi-spec/swagger.json");
  const { definitions } = JSON.parse(await readFile(swagger, "utf8")) as {
    definitions: Record<string, Definition>;
  };
  const strict = Object.fromEntries(
    Object.entries(definitions).map(([name, schema]) => [name, strictly(schema)]),
  );
  await writeFile(join(folder, "all.json"), JSON.stringify({ definitions: strict }));
  for (const [name, schema] of Object.entries(definitions)) {
    for (const { group, version, kind } of schema["x-kubernetes-group-version-kind"] ?? []) {
      await writeSchema({ group, version, kind }, { $ref: `all.json#/definitions/${name}` });
    }
  }

  const operator = join(await moduleFolder(OPERATOR), "jsonnet/prometheus-operator");
  const gateways = join(await moduleFolder(GATEWAY_API), "config/crd/standard");
  for (const file of [
    `${operator}/servicemonitors-crd.json`,
    `${operator}/podmonitors-crd.json`,
    `${gateways}/gateway.networking.k8s.io_httproutes.yaml`,
  ]) {
    const { spec } = parse(await readFile(file, "utf8")) as Crd;
    const { group, names, versions } = spec;
    for (const { name: version, schema } of versions) {
      await writeSchema({ group, version, kind: names.kind }, strictly(schema.openAPIV3Schema));
    }
  }
  return join(folder, "{{.ResourceKind}}-{{.Group}}-{{.ResourceAPIVersion}}.json");

  function writeSchema(what: { group: string; version: string; kind: string }, schema: object) {
    const group = what.group || what.version; // kubeconform's name for the group of the core kinds.
    const name = `${what.kind.toLowerCase()}-${group}-${what.version}.json`;
    return writeFile(join(folder, name), JSON.stringify(schema));
  }
}

/** The same schema, but unknown members are faults. */
function strictly(schema: Schema): Schema {
  if (schema.format === "int-or-string") return { type: ["string", "integer"] } as never;
  const result: Schema = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === "properties") continue;
    result[key] = isSchema(value) ? strictly(value) : value;
  }
  if (schema["x-kubernetes-int-or-string"]) delete result.type;
  if (typeof result.$ref === "string") result.$ref = result.$ref.replace("#/", "all.json#/");
  if (!schema.properties) return result;

  const inside = Object.entries(schema.properties).map(([name, one]) => [name, strictly(one)]);
  const closed = schema["x-kubernetes-preserve-unknown-fields"]
    ? {}
    : { additionalProperties: false };
  return {
    ...result,
    properties: Object.fromEntries(inside) as Schema["properties"],
    ...closed,
  } as Schema;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function moduleFolder(module: string): Promise<string> {
  const { stdout } = await promisify(execFile)("go", ["mod", "download", "-json", module]);
  return (JSON.parse(stdout) as { Dir: string }).Dir;
}
