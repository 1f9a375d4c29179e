// Depends on: src, site, docs
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { readSource } from "../../site/source.ts";
import { FAILURE_REASONS } from "../../src/subjects/deliveries/rules.ts";
import { freePort } from "../support/free-port.ts";
import * as scripts from "../support/receiver-scripts.ts";
import { type ReceiverOptions, type Script, startReceiver } from "../support/receiver.ts";
import { requireProgram } from "../support/required.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const page = readSource("site/pages/troubleshooting.md");
const HOST = "receiver.example";
/** The page has the messages of this version. Some differ in other versions. */
const SHOWN = "curl 7.88.";

test("the page has a section for every failure reason", () => {
  const sections = [...page.matchAll(/^## `(\w+)(?:<status>)?`$/gm)].map(([, name]) => name);
  assert.deepEqual(sections.sort(), [...FAILURE_REASONS, "http_"].sort());
});

interface Case {
  script?: Script;
  receiver?: ReceiverOptions;
  /** False if curl does not trust the authority of the receiver's certificate. */
  isTrusted?: false;
}

const CASES: Record<string, Case> = {
  http: { script: scripts.status(503) },
  hang: { script: scripts.hang },
  reset: { script: scripts.hangUp },
  "reset-hard": { script: scripts.reset },
  expired: { receiver: { certificate: "expired" } },
  "self-signed": { receiver: { certificate: "self-signed" } },
  "other-name": { receiver: { certifiedHosts: ["other.example"] } },
  incomplete: { isTrusted: false },
  "old-tls": { receiver: { tlsVersion: "TLSv1.1" } },
  "not-http": { script: scripts.rawAndEnd("220 mail.example ESMTP\r\n") },
  "unknown-name": {},
  private: { script: scripts.status(204) },
};

/** Ways of curl that lead to no receiver. */
const NOWHERE: Record<string, () => string[] | Promise<string[]>> = {
  refused: nobody,
  "no-route": noRoute,
  "no-route-in-detail": noRoute,
  "no-ipv4": () => ["--resolve", `${HOST}:443:[::1]`],
};

for (const [, name = "", command = "", shown = ""] of page.matchAll(
  /```text case=(\S+)\n\$ curl (.+)\n([\s\S]+?)\n```/g,
)) {
  test(`curl prints the page's message: ${name}`, async (t) => {
    if (!(await requireProgram(t, "curl", ["--version"]))) return;
    const way = NOWHERE[name] ? await NOWHERE[name]() : await failing(t, name);
    const { stdout, stderr } = await curl([...wordsOf(command).map(quickly), ...way]);
    // After some faults curl adds advice. With -v it comments on everything.
    const lines = (stdout + stderr).split("\n");
    const said = lines.find((line) => !/^\* (?!Immediate)/.test(line)) ?? "";
    const version = (await curl(["--version"])).stdout;
    if (version.startsWith(SHOWN)) assert.equal(comparable(said), comparable(shown));
    else assert.equal(codeOf(comparable(said)), codeOf(comparable(shown)), said);
  });
}

/** The system refuses TCP to the broadcast address as it does without a route. */
function noRoute(): string[] {
  return ["--resolve", `${HOST}:443:255.255.255.255`];
}

/** An address where nothing listens. */
async function nobody(): Promise<string[]> {
  return ["--resolve", `${HOST}:443:127.0.0.1`, "--connect-to", `::127.0.0.1:${await freePort()}`];
}

async function failing(t: TestContext, name: string): Promise<string[]> {
  const found = CASES[name];
  assert.ok(found, name);
  const receiver = await startReceiver(t, { host: HOST, ...found.receiver });
  if (found.script) receiver.answer(found.script);
  if (name === "unknown-name") return [];

  const folder = await aTemporaryFolder(t);
  const ca = join(folder, "ca.pem");
  await writeFile(ca, receiver.ca);
  const trusted = found.isTrusted === false ? [] : ["--cacert", ca];
  return [...trusted, "--connect-to", `${HOST}:443:127.0.0.2:${receiver.port}`];
}

function curl(args: string[]): Promise<{ stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile("curl", ["-q", ...args], (_error, stdout, stderr) => {
      resolve({ stdout, stderr });
    });
  });
}

/** The words of a command, split as by a shell. */
function wordsOf(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? "");
}

/** Shortens ten seconds, for a receiver that hangs. */
function quickly(word: string): string {
  return word === "10" ? "0.2" : word;
}

/**
 * Removes differences between runs: times, the address after the host, and the layer that notices a reset.
 * Tests connect only to loopback, so its addresses take the place of those on the page.
 */
function comparable(text: string): string {
  return text
    .replace(/^10\.0\.0\.5 /, "127.0.0.2 ")
    .replace("255.255.255.255", "203.0.113.5")
    .replace(/OpenSSL\/[\d.]+/, "OpenSSL/n")
    .replace(/\d+ (ms|milliseconds)/, "n $1")
    .replace(/OpenSSL SSL_read: (.*), errno \d+/, "Recv failure: $1")
    .replace(/127\.0\.0\.\d+ port \d+/, `${HOST} port 443`);
}

function codeOf(text: string): string {
  return /\((\d+)\)/.exec(text)?.[1] ?? text;
}
