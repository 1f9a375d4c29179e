// Depends on: packages, scripts, src, package.json, LICENSE

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import { promisify } from "node:util";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { ROOT } from "../support/root.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const BYTES_MAX = 50_000;
const { findNpm } = (await import(new URL("scripts/packages.js", `file://${ROOT}`).href)) as {
  findNpm: () => string;
};
const home = await aTemporaryFolder({ after });
const { version } = await readJson<{ version: string }>("package.json");

const packages = [
  {
    name: "webhook",
    dependencies: [],
    program: `
      import { verify } from "@partner-api/webhook";
      import { mintSigningSecret, signatureHeaders } from "@partner-api/webhook/sign";
      const secret = mintSigningSecret();
      const body = JSON.stringify({ event: "vc.test.ping", id: "evt_1", subscription_id: "wh_1",
        occurred_at: new Date().toISOString(), data: { message: "integration test" } });
      const headers = signatureHeaders({ signingSecret: secret, eventId: "evt_1",
        timestampMs: Date.now(), body: Buffer.from(body) });
      console.log((await verify({ secret, headers, body })).verdict);`,
    prints: "valid\n",
  },
  {
    name: "client",
    dependencies: ["openapi-fetch"],
    program: `
      import { createPartnerClient } from "@partner-api/client";
      const asked = [];
      const fetch = async ({ url }) => (asked.push(url), Response.json([]));
      const partner = createPartnerClient({ baseUrl: "https://partners.test", token: "vck_x.y", fetch });
      const { data } = await partner.listSubscriptions();
      console.log(asked.join(), data.length);`,
    prints: "https://partners.test/api/v1/partner/webhooks 0\n",
  },
  {
    name: "egress",
    bytesMax: 76_000, // It is for services. Those for partners' programs are small.
    dependencies: [],
    program: `
      import { Egress, parseCidr } from "@partner-api/egress";
      const loopback = parseCidr("127.0.0.2/32");
      const egress = new Egress({ policy: { allow: [loopback], deny: [] } });
      const post = { headers: {}, body: Buffer.from("{}"), timeoutMs: 5_000 };
      const kinds = [];
      for (const host of ["127.0.0.1", "127.0.0.2:1"])
        kinds.push((await egress.post({ ...post, url: "https://" + host + "/" })).reason);
      await egress.close();
      console.log(kinds.join());`,
    prints: "address_not_public,connection_refused\n",
  },
  {
    name: "listen",
    dependencies: ["@peculiar/x509", "commander"],
    program: `
      import { spawn } from "node:child_process";
      import { once } from "node:events";
      const bin = "./node_modules/.bin/partner-api-listen";
      const listener = spawn(bin, ["--port", "0", "--json"], { stdio: ["ignore", "pipe", "inherit"] });
      const [line] = await once(listener.stdout, "data");
      listener.kill();
      const [status] = await once(listener, "exit");
      console.log(JSON.parse(line).url.slice(0, 18), status);`,
    prints: "https://localhost: 0\n",
  },
  {
    name: "bridge",
    bytesMax: 150_000, // It is for services, too.
    dependencies: ["commander", "pino", "pino-pretty", "prom-client", "yaml"],
    program: `
      import { spawnSync } from "node:child_process";
      import { writeFileSync } from "node:fs";
      writeFileSync("bridge.yaml", "sources: [{ name: a, kind: outbox, url: 'postgres://127.0.0.1:1/x' }]");
      const env = { ...process.env, PARTNER_API_URL: "http://127.0.0.1:1", PARTNER_API_TOKEN: "t".repeat(32) };
      const args = ["--config", "bridge.yaml", "--check"];
      const { stdout, status } = spawnSync("./node_modules/.bin/partner-api-bridge", args, { env, encoding: "utf8" });
      console.log(stdout.split("\\n")[1], status);`,
    prints: "FAILS a: the package pg is missing: run `npm install pg` 1\n",
  },
];

for (const { name, bytesMax = BYTES_MAX, dependencies, program, prints } of packages) {
  describe(`@partner-api/${name}`, async () => {
    const isProgram = name === "listen" || name === "bridge";
    const isBundle = isProgram || name === "egress";
    const folder = await aTemporaryFolder({ after });
    const source = join(ROOT, "packages", name);
    const { tarball, bytes, files } = await pack(source, folder);

    test("has the version of the service, the licence, and a bounded size", async () => {
      const manifest = await readJson<{ version: string }>(`packages/${name}/package.json`);
      assert.equal(manifest.version, version);
      for (const path of ["LICENSE", "README.md", "package.json"]) assert.ok(files.includes(path));
      assert.ok(bytes <= bytesMax, `${bytes} bytes unpacked`);
    });

    test("is published for everybody", async () => {
      interface Manifest {
        publishConfig?: object;
      }
      const { publishConfig } = await readJson<Manifest>(`packages/${name}/package.json`);
      assert.deepEqual(publishConfig, { access: "public" });
    });

    test("two packings have the same bytes", async () => {
      const again = join(folder, "again");
      await mkdir(again);
      assert.deepEqual((await pack(source, again)).tarball, tarball);
    });

    test("has a valid manifest", async () => {
      const { messages } = await publint({ pkgDir: source, strict: true });
      assert.deepEqual(messages, []);
    });

    test("has types for every moduleResolution, unless it is a program", async () => {
      const result = await checkPackage(createPackageFromTarballData(tarball));
      assert.equal(Boolean(result.types), !isProgram);
      // The packages are ES modules. Node.js from 20.19 on can `require` them.
      const problems = result.types ? result.problems : [];
      assert.deepEqual(
        problems.filter(({ kind }) => kind !== "CJSResolvesToESM"),
        [],
      );
    });

    test("runs the same code as the service", { skip: isBundle && "a bundle" }, async () => {
      const modules = files.filter((path) => path.endsWith(".js"));
      assert.ok(modules.length > 0);
      for (const path of modules) {
        const ours = path.replace("dist/", `dist/src/${name}/`);
        assert.equal(await readText(`packages/${name}/${path}`), await readText(ours), path);
      }
    });

    test("works in an empty project", async () => {
      const project = join(folder, "project");
      await install(project, dependencies, join(folder, `partner-api-${name}-${version}.tgz`));
      const { stdout } = await run(project, "--input-type=module", "--eval", program);
      assert.equal(stdout, prints);
    });
  });
}

async function pack(source: string, to: string) {
  const args = ["pack", source, "--ignore-scripts", "--json", "--pack-destination", to];
  const { stdout } = await run(ROOT, findNpm(), ...args);
  const [packed] = JSON.parse(stdout) as [
    { filename: string; unpackedSize: number; files: { path: string }[] },
  ];
  return {
    tarball: await readFile(join(to, packed.filename)),
    bytes: packed.unpackedSize,
    files: packed.files.map(({ path }) => path),
  };
}

/** Installs a tarball offline. `dependencies` are copied as npm would download them. */
async function install(project: string, dependencies: string[], tarball: string): Promise<void> {
  for (const name of await allOf(dependencies)) {
    const to = join(project, "node_modules", name);
    await cp(join(ROOT, "node_modules", name), to, { recursive: true });
    // npm would fetch a package again whose program is not linked.
    const manifest = await readJson<{ bin?: unknown }>(join("node_modules", name, "package.json"));
    await writeFile(join(to, "package.json"), JSON.stringify({ ...manifest, bin: undefined }));
  }
  await mkdir(project, { recursive: true });
  await writeFile(join(project, "package.json"), '{ "private": true }');
  await run(project, findNpm(), "install", tarball, "--offline", "--no-audit", "--no-fund");
}

/** The names of packages and of all their dependencies. */
async function allOf(names: string[]): Promise<Set<string>> {
  const { packages } = await readJson<{
    packages: Record<string, { dependencies?: Record<string, string> }>;
  }>("package-lock.json");
  const all = new Set(names);
  for (const name of all) {
    const { dependencies = {} } = packages[`node_modules/${name}`] ?? {};
    for (const dependency of Object.keys(dependencies)) all.add(dependency);
  }
  return all;
}

function run(cwd: string, ...args: string[]) {
  const env = { PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`, HOME: home };
  return promisify(execFile)(process.execPath, args, { cwd, env });
}

function readText(path: string): Promise<string> {
  return readFile(join(ROOT, path), "utf8");
}

async function readJson<Shape>(path: string): Promise<Shape> {
  return JSON.parse(await readText(path)) as Shape;
}
