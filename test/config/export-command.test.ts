import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfig } from "../../src/config/config.ts";

test("the export program gets its arguments and the environment without the service's own settings", () => {
  const { exportCommand } = loadConfig({
    EXPORT_COMMAND: "/usr/local/bin/export  --to /srv",
    PATH: "/bin",
    ADMIN_TOKEN: "x".repeat(32),
    DATABASE_URL: "postgres://u:secret@db/partner",
  });
  const expected = {
    program: "/usr/local/bin/export",
    args: ["--to", "/srv"],
    env: { PATH: "/bin" },
  };
  assert.deepEqual(exportCommand, expected);
});

test("quotes are refused, because they would need a shell", () => {
  for (const EXPORT_COMMAND of ["export 'a b'", 'sh -c "x"', "x".repeat(1001)]) {
    assert.throws(
      () => loadConfig({ EXPORT_COMMAND }),
      /EXPORT_COMMAND must be a program and its arguments/,
    );
  }
});
