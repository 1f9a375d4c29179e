import assert from "node:assert/strict";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { aBridge, aPublishingService, checked } from "../support/bridge.ts";
import { certificate, testAuthority } from "../support/certificates.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

export interface TlsFiles {
  folder: string;
  /** The paths of what a server needs: its certificate is for `localhost`, and not for 127.0.0.1. */
  ca: string;
  cert: string;
  key: string;
  /** What a client verifies, as text. */
  authority: string;
  stranger: string;
}

/** Files that every user can read, for a server with TLS. */
export async function tlsFiles(t: Pick<TestContext, "after">): Promise<TlsFiles> {
  const folder = await aTemporaryFolder(t);
  await chmod(folder, 0o755);
  const options = { hosts: ["localhost"], addresses: [] };
  const { cert, key } = await certificate({ ...options, kind: "good" });
  const { cert: stranger } = await certificate({ ...options, kind: "self-signed" });
  const { cert: authority } = await testAuthority();
  const write = async (name: string, text: string) => {
    const path = join(folder, name);
    await writeFile(path, text);
    return path;
  };
  return {
    ...{ folder, authority, stranger },
    ca: await write("ca.pem", authority),
    cert: await write("cert.pem", cert),
    key: await write("key.pem", key),
  };
}

/**
 * Runs a bridge on a source of which one message waits, until that is published. Then checks each changed source: the fault must be
 * named, and no text that is a secret may be in the sentence.
 */
export async function checkConnections(
  t: TestContext,
  {
    source,
    faults,
    secrets,
  }: {
    source: object;
    faults: readonly (readonly [change: object, sentence: RegExp])[];
    secrets: readonly string[];
  },
): Promise<void> {
  const service = await aPublishingService(t);
  const url = service.operatorUrl;
  const good = await checked({ url, sources: [source] });
  assert.doesNotMatch(good, /^FAILS/m);
  const bridge = await aBridge(t, { url, sources: [source] });
  await bridge.logged(({ msg }) => msg === "published");
  await bridge.stop();
  assert.equal((await service.published()).length, 1);
  for (const [change, sentence] of faults) {
    const said = await checked({ url, sources: [{ ...source, ...change }] });
    const failed = said.split("\n").filter((line) => line.startsWith("FAILS"));
    assert.match(failed.join("\n"), sentence, said);
    for (const secret of secrets) assert.ok(!said.includes(secret), said);
  }
}
