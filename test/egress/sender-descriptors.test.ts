import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const program = fileURLToPath(new URL("../support/send-without-descriptors.js", import.meta.url));

test("an attempt without a free file descriptor is an internal fault", async (t) => {
  if (process.platform === "win32") {
    t.skip("this machine has no limit to set");
    return;
  }
  const script = 'ulimit -n 64 && exec "$0" "$1"';
  const args = ["-c", script, process.execPath, program];
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: "" }; // Node.js 26 reads it late, and frees a descriptor then.
  const { stdout } = await promisify(execFile)("sh", args, { env });
  assert.deepEqual(JSON.parse(stdout), { kind: "internal-fault", fault: "no_descriptors" });
});
