import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { link, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openCertificates } from "../../src/listen/certificates.ts";
import { certificate } from "../support/certificates.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const now = new Date("2026-01-01T00:00:00Z");
const inDays = (days: number) => new Date(now.getTime() + days * 86_400_000);

async function aFolder(t: TestContext): Promise<string> {
  const folder = await aTemporaryFolder(t);
  return join(folder, "listen");
}

test("a restarted receiver keeps its certificates", async (t) => {
  const folder = await aFolder(t);
  const first = await openCertificates(folder, now);
  assert.deepEqual(await openCertificates(folder, inDays(300)), first);
  assert.equal((await readFile(first.caFile, "utf8")).trim(), first.ca);
  assert.ok(new X509Certificate(first.cert).verify(new X509Certificate(first.ca).publicKey));
});

test("certificates that expire soon or are damaged are replaced", async (t) => {
  const folder = await aFolder(t);
  const { ca } = await openCertificates(folder, now);
  const renewed = await openCertificates(folder, inDays(364.5));
  assert.notEqual(renewed.ca, ca);
  assert.equal((await readFile(renewed.caFile, "utf8")).trim(), renewed.ca);

  await writeFile(join(folder, "receiver.pem"), "damaged");
  assert.notEqual((await openCertificates(folder, inDays(364.5))).ca, renewed.ca);
});

test("only the owner can read the receiver's key, and the authority's key is not stored", async (t) => {
  const folder = await aFolder(t);
  await openCertificates(folder, now);
  assert.deepEqual(await readdir(folder), ["ca.pem", "receiver.pem"]);
  const file = join(folder, "receiver.pem");
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.equal((await stat(folder)).mode & 0o777, 0o700);
  const keys = (await readFile(file, "utf8")).match(/BEGIN [A-Z ]*PRIVATE KEY/g) ?? [];
  assert.equal(keys.length, 1);
  assert.doesNotMatch(await readFile(join(folder, "ca.pem"), "utf8"), /PRIVATE/);
});

test("the authority's certificate replaces a file, and is not written into it, because it may have other names", async (t) => {
  const folder = await aFolder(t);
  await mkdir(folder);
  const other = join(folder, "other");
  await writeFile(other, "as it was");
  await link(other, join(folder, "ca.pem"));
  const { ca, caFile } = await openCertificates(folder, now);
  assert.equal((await readFile(caFile, "utf8")).trim(), ca);
  assert.equal(await readFile(other, "utf8"), "as it was");
});

test("two receivers that start at once in an empty folder share one authority", async (t) => {
  const folder = await aFolder(t);
  const [one, other] = await Promise.all([
    openCertificates(folder, now),
    openCertificates(folder, now),
  ]);
  assert.equal(one.ca, other.ca);
});

test("certificates of another authority are left unchanged", async (t) => {
  const folder = await aFolder(t);
  await mkdir(folder);
  const { key, cert } = await certificate({ hosts: ["localhost"], addresses: [], kind: "good" });
  for (const name of ["receiver.pem", "ca.pem"]) {
    const file = join(folder, name);
    await writeFile(file, key + cert);
    await assert.rejects(openCertificates(folder, now), new RegExp(`${name} .* another authority`));
    assert.equal(await readFile(file, "utf8"), key + cert);
    await rm(file);
  }
});
