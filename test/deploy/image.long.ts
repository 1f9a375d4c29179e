import assert from "node:assert/strict";
import { once } from "node:events";
import { chmod, readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import { aGate } from "../support/database-gate.ts";
import { createDatabase, ownerOf } from "../support/database.ts";
import { rightsOf } from "../support/processes.ts";
import { ADMIN_TOKEN, untilReady } from "../support/program.ts";
import { eventIdOf, startLocalReceiver } from "../support/receiver.ts";
import { requireProgram } from "../support/required.ts";
import { aPartner, aRig } from "../support/rig.ts";
import { buildImage, runInside } from "./image.ts";

interface Bill {
  components: { name: string; version: string }[];
}

test("the image contains Node.js and the service alone, and serves as its user from a read-only root", async (t) => {
  if (!(await requireProgram(t, "buildah", ["--version"]))) return;
  if (!(await requireProgram(t, "debootstrap", ["--version"]))) return;
  const image = await buildImage(t);

  const { config, root } = image;
  assert.equal(config.User, "10001:10001");
  assert.equal(config.StopSignal, "SIGTERM");
  assert.deepEqual([config.Entrypoint, config.Cmd], [["/usr/local/bin/partner-api"], ["serve"]]);
  assert.equal(config.Labels["org.opencontainers.image.version"], "1.0.0");
  const programs = await Promise.all(
    ["usr/bin", "usr/local/bin"].map((folder) => readdir(`${root}/${folder}`)),
  );
  assert.deepEqual(programs, [["env"], ["node", "partner-api"]]);
  assert.deepEqual(await readdir(`${root}/usr`), ["bin", "lib", "lib64", "local"]);
  const libraries = await readdir(`${root}/var/lib/dpkg/status.d`); // What scanners read.
  assert.deepEqual(libraries, ["coreutils", "libc6", "libgcc-s1", "libstdc++6"]);
  const installed = await packagesIn(`${root}/app/node_modules`);
  for (const name of ["fastify", "@opentelemetry/api"]) assert.ok(installed.has(name), name);
  const bill = JSON.parse(await readFile(`${root}/app/partner-api.cdx.json`, "utf8")) as Bill;
  assert.deepEqual(new Set(bill.components.map(({ name }) => name)), installed);

  const rig = await aRig(t);
  const folder = rig["DATA_DIR"] ?? "";
  await chmod(folder, 0o755);
  const service = createDatabase();
  const gates = await Promise.all(
    [await service, ownerOf(await service)].map((db) => aGate(t, db)),
  );
  const [serviceUrl, ownerUrl] = gates.map(({ url }) => url);
  const settings = {
    DATABASE_URL: serviceUrl,
    ADMIN_TOKEN,
    SEALING_KEYS: `first:${Buffer.alloc(32, 1).toString("base64")}`,
    EGRESS_ALLOW: "127.0.0.0/8",
    EGRESS_CA_FILE: "/data/ca.pem",
    ...{ HOST: "127.0.0.1", PORT: "0", OPERATOR_HOST: "127.0.0.1", OPERATOR_PORT: "0" },
  };
  const inside = (command: string[], env: object = {}) =>
    runInside(image, folder, command, { ...settings, ...env });
  const ends = async (command: string[], env?: object) => {
    const child = inside(command, env);
    const complaint: Buffer[] = [];
    child.stderr.on("data", (chunk: Buffer) => complaint.push(chunk));
    const [status] = (await once(child, "close")) as [number];
    return { status, complaint: Buffer.concat(complaint).toString() };
  };

  for (const path of ["/app/x", "/data/x", "/tmp/x"]) {
    const written = await ends(["node", "-e", `fs.writeFileSync("${path}", "")`]);
    assert.match(written.complaint, /EROFS/, path);
  }
  const [entry = ""] = config.Entrypoint;
  const migrated = await ends([entry, "migrate"], { MIGRATION_DATABASE_URL: ownerUrl });
  assert.equal(migrated.status, 0, migrated.complaint);

  const program = await untilReady(t, inside([entry, ...config.Cmd]));
  const rights = await rightsOf(program.process.pid ?? 0);
  assert.deepEqual([...new Set(rights.uid)], [10_001]);
  const version = await readFile(`/proc/${program.process.pid ?? 0}/cmdline`, "utf8");
  assert.match(version, /^node\0--max-semi-space-size=8\0/); // The signal reaches Node.js, not a shell.
  const port = new URL(program.operatorUrl).port;
  const [kind, ...check] = config.Healthcheck.Test;
  assert.equal(kind, "CMD");
  assert.equal((await ends(check, { OPERATOR_PORT: port })).status, 0);
  assert.equal((await ends(check, { OPERATOR_PORT: "9" })).status, 1);

  const receiver = await startLocalReceiver(t);
  const partner = await aPartner(program, "acme");
  const { body } = await partner.ping(await partner.subscribe(receiver.url("/hooks")));
  const arrived = await receiver.next();
  assert.equal(eventIdOf(arrived), body["event_id"]);
  assert.equal(await program.end(config.StopSignal as NodeJS.Signals), 0);
});

/** The names of the packages in a folder, and in those folders of packages. */
async function packagesIn(folder: string): Promise<Set<string>> {
  const files = await readdir(folder, { recursive: true });
  const manifests = files.flatMap((file) => {
    const [, name] = /(?:^|node_modules\/)((?:@[^/]+\/)?[^/@]+)\/package\.json$/.exec(file) ?? [];
    return name === undefined ? [] : [name];
  });
  return new Set(manifests);
}
