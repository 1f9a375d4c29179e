import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { DETAILS } from "../../src/egress/index.ts";
import { ROOT } from "../support/root.ts";

test("the troubleshooting page explains exactly the existing causes, under their reasons", async () => {
  const page = await readFile(join(ROOT, "site/pages/troubleshooting.md"), "utf8");
  const rows = [
    ...page.matchAll(/^\| (?:`(?!reason)(\w+)`)? ?\| `(?!detail`)(\w+)` \| .+ \| .+ \|.*\|$/gm),
  ];
  const explained: Record<string, string[]> = {};
  let reason = "";
  for (const [, of = reason, detail = ""] of rows) (explained[(reason = of)] ??= []).push(detail);
  const existing = Object.entries(DETAILS).filter(([, details]) => details.length > 0);
  assert.deepEqual(
    Object.entries(explained)
      .map(([of, details]) => [of, details.sort()])
      .sort(),
    existing.map(([of, details]) => [of, [...details].sort()]).sort(),
  );
});
