import { getServers } from "node:dns";
import type { Config } from "../config.ts";
import type { EventTypes } from "../domain/event-types.ts";
import { Egress } from "../egress/index.ts";
import { isWide } from "../lib/ip-address.ts";
import { adminTokenPath, openAdminTokens } from "../wiring/admin-tokens.ts";
import { lookUpLimitMs, readReceiversCa, requireEgressSource } from "../wiring/egress.ts";
import { requireSafeExport } from "../wiring/export-rights.ts";
import { openEventTypes } from "../wiring/event-types.ts";
import { findProgram } from "../wiring/find-program.ts";
import { isOpenToAll } from "../wiring/kept-file.ts";
import { sealingKeysPath } from "../wiring/sealing-keys.ts";
import type { Check, Doubt } from "./check.ts";
import { listenerChecks } from "./listeners.ts";

export function checksBesideDatabase(config: Config): Check[] {
  return [
    ["admin tokens", async () => (await openAdminTokens(config)).map((t) => t.name).join(", ")],
    ...filesWithModes(config),
    ...listenerChecks(config),
    ["egress", () => checkEgress(config)],
    ["name servers", () => checkNameServers(config)],
    ["event types", async () => checkTypes(await openEventTypes(config))],
    ["receivers' CA", () => checkCa(config)],
    ["export", () => checkExport(config)],
  ];
}

function filesWithModes(config: Config): Check[] {
  return process.platform === "win32" ? [] : [["secret files", () => checkFiles(config)]];
}

async function checkFiles({ dataDir }: Config): Promise<string> {
  const open: string[] = [];
  for (const path of [adminTokenPath(dataDir), sealingKeysPath(dataDir)]) {
    if (await isOpenToAll(path)) open.push(path);
  }
  if (open.length > 0) throw new Error(`accessible to every user: chmod o-rw ${open.join(" ")}`);
  return "none is accessible to every user";
}

/** Only warned about at the start, so that a test rig can run. */
async function checkEgress(config: Config): Promise<string> {
  const { allow, deny } = config.egress;
  if (allow.some(isWide)) {
    throw new Error(
      "EGRESS_ALLOW holds a block that is larger than any private network: partners' URLs then lead to " +
        "this machine and its neighbours. Name only the networks of your test rig",
    );
  }
  await requireEgressSource(config);
  const { ipv4, ipv6 } = config.egressSource;
  const from = [ipv4, ipv6].filter((address) => address !== null).join(", ");
  const blocked = deny.length > 0 ? `, without ${deny.length} blocks of EGRESS_DENY` : "";
  const allowed = allow.length > 0 ? ` and ${allow.length} blocks of EGRESS_ALLOW` : "";
  return `public addresses${allowed}${blocked}${from === "" ? "" : `, from ${from}`}`;
}

/** Asks each server by itself, because the system silently skips a dead one and every look-up then takes longer. */
async function checkNameServers(config: Config): Promise<string | Doubt> {
  const servers = config.dnsServers ?? getServers();
  const from = config.dnsServers ? "DNS_SERVERS" : "the system's resolver configuration";
  if (servers.length === 0)
    throw new Error(`${from} lists no name server: nothing can be delivered`);

  const dead: string[] = [];
  await Promise.all(
    servers.map(async (server) => {
      if (!(await doesAnswer(server, config))) dead.push(server);
    }),
  );
  if (dead.length === 0) return `${servers.join(", ")} answer`;
  const who = `${dead.join(", ")} (from ${from}) ${dead.length === 1 ? "does" : "do"} not answer`;
  if (dead.length === servers.length) {
    throw new Error(`${who}: nothing can be delivered. Correct the address, or allow port 53`);
  }
  return { doubt: `${who}: look-ups take longer. Remove or repair it` };
}

async function doesAnswer(server: string, { attemptTimeoutMs }: Config): Promise<boolean> {
  const lookUpMs = lookUpLimitMs(attemptTimeoutMs);
  const egress = new Egress({ nameServers: [server], lookUpMs });
  const vetted = await egress.check("https://example.com/");
  await egress.close();
  return vetted.ok || vetted.refusal !== "no_resolver";
}

function checkTypes({ names }: EventTypes): string {
  return names.length === 1 ? "the test event only" : `${names.length - 1} of the platform`;
}

async function checkCa(config: Config): Promise<string> {
  const isExtended = (await readReceiversCa(config)) !== undefined;
  return isExtended ? "the default CAs and those of EGRESS_CA_FILE" : "the default CAs";
}

async function checkExport(config: Config): Promise<string> {
  const { exportCommand } = config;
  if (exportCommand === null) return "none: expired history is dropped";
  requireSafeExport(config);
  const { program, env } = exportCommand;
  const found = await findProgram(program, env["PATH"]);
  if (found === null) {
    throw new Error(`EXPORT_COMMAND: ${program} cannot be run: install it, or correct the path`);
  }
  return `${found} runs before expired history is dropped`;
}
