import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../support/root.ts";

/** The package has these documents, and only some of the folders that a checkout has. */
const DOCUMENTS = [
  ...["README.md", "CONTRIBUTING.md", "SECURITY.md"],
  ...readdirSync(join(ROOT, "docs")).flatMap((name) =>
    name.endsWith(".md") ? [`docs/${name}`] : [],
  ),
];

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const proseOf = (path: string) => read(path).replace(/```.*?```/gs, "");

const LINKS = DOCUMENTS.flatMap((from) =>
  Array.from(proseOf(from).matchAll(/\]\((?![a-z]+:|\/)([^)\s]+)\)/g), ([, link = ""]) => {
    const [path = "", anchor = null] = link.split("#");
    return { from, link, file: path === "" ? from : join(dirname(from), path), anchor };
  }),
);

/** As GitHub makes it of a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-");

function anchorsOf(file: string): string[] {
  return Array.from(proseOf(file).matchAll(/^#+ (.+)$/gm), ([, text = ""]) => anchorOf(text));
}

test("every link of a document leads to a file that the package has", () => {
  const { files } = JSON.parse(read("package.json")) as { files: string[] };
  const packaged = (file: string) =>
    ["package.json", "README.md", "LICENSE", ...files].some(
      (one) => file === one || file.startsWith(`${one}/`),
    );
  assert.ok(LINKS.length > 50);
  assert.deepEqual(
    LINKS.filter(({ file }) => !existsSync(join(ROOT, file)) || !packaged(file)),
    [],
  );
});

test("every link of a document to a section leads to its heading", () => {
  const lost = LINKS.filter(
    ({ file, anchor }) =>
      anchor !== null && file.endsWith(".md") && !anchorsOf(file).includes(anchor),
  );
  assert.deepEqual(lost, []);
});

test("every file of the source that a document names exists", () => {
  const named = DOCUMENTS.flatMap((from) =>
    Array.from(
      proseOf(from).matchAll(/`((?:src|site|test)\/[\w./-]+\.ts)`/g),
      ([, path = ""]) => path,
    ),
  );
  assert.ok(named.length > 100);
  assert.deepEqual(
    named.filter((path) => !existsSync(join(ROOT, path))),
    [],
  );
});
