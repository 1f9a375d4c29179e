import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { aTemporaryFolder } from "./temporary-folder.ts";

/** A type's file with this schema. */
export function typeFile(schema: object, example: object = {}, further: object = {}): object {
  return { summary: "Something happened", schema, example, ...further };
}

export const ORDER = typeFile(
  {
    type: "object",
    properties: {
      total: { type: "integer", minimum: 0, description: "In cents." },
      customer: { $ref: "customer.changed#/$defs/customer" },
      lines: { type: "array", items: { $ref: "#/$defs/line" } },
    },
    required: ["total"],
    $defs: { line: { type: "object", properties: { sku: { type: "string" } } } },
  },
  { total: 4200, customer: { id: "cus-7" }, lines: [{ sku: "A-1" }] },
  { summary: "An order was placed", description: "With **Markdown** and <b>HTML</b>." },
);

export const CUSTOMER = typeFile(
  {
    type: "object",
    properties: { customer: { $ref: "#/$defs/customer" } },
    $defs: {
      customer: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
    },
  },
  { customer: { id: "cus-7" } },
  { summary: "A customer changed" },
);

/** A folder with these files. Content that is not text is written as JSON. */
export async function aFolder(
  t: Pick<TestContext, "after">,
  files: Record<string, string | object>,
): Promise<string> {
  const folder = await aTemporaryFolder(t);
  for (const [name, content] of Object.entries(files)) {
    await writeFile(
      join(folder, name),
      typeof content === "string" ? content : JSON.stringify(content),
    );
  }
  return folder;
}
