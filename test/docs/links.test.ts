import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../support/root.ts";

const DOCUMENTS = [
  ...["README.md", "CONTRIBUTING.md", "SECURITY.md", "bench/README.md"],
  ...readdirSync(join(ROOT, "docs")).flatMap((name) =>
    name.endsWith(".md") ? [`docs/${name}`] : [],
  ),
];

const textOf = (path: string) => readFileSync(join(ROOT, path), "utf8").replace(/```.*?```/gs, "");

/** As GitHub makes it of a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-");

function leads(from: string, link: string): boolean {
  const [path = "", anchor] = link.split("#");
  const file = path === "" ? from : join(dirname(from), path);
  if (!existsSync(join(ROOT, file))) return false;
  const headings = () =>
    Array.from(textOf(file).matchAll(/^#+ (.+)$/gm), ([, text = ""]) => anchorOf(text));
  return anchor === undefined || !file.endsWith(".md") || headings().includes(anchor);
}

test("every link from one document to another leads to a file, and to a heading of it", () => {
  const links = DOCUMENTS.flatMap((from) =>
    Array.from(textOf(from).matchAll(/\]\((?![a-z]+:|\/)([^)\s]+)\)/g), ([, link = ""]) => ({
      from,
      link,
    })),
  );
  assert.ok(links.length > 50);
  assert.deepEqual(
    links.filter(({ from, link }) => !leads(from, link)),
    [],
  );
});

test("every file of the source that a document names exists", () => {
  const named = DOCUMENTS.flatMap((from) =>
    Array.from(
      textOf(from).matchAll(/`((?:src|site|test)\/[\w./-]+\.ts)`/g),
      ([, path = ""]) => path,
    ),
  );
  assert.ok(named.length > 100);
  assert.deepEqual(
    named.filter((path) => !existsSync(join(ROOT, path))),
    [],
  );
});
