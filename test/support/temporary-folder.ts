import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Scope {
  after(work: () => Promise<void>): void;
}

/** An empty folder, which is removed after the test. */
export async function aTemporaryFolder(t: Scope): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "partner-api-test-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
