import "../bin/node-version.js";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { makeReady, ROOT } from "./ready.js";

// Prints every sentence that a person can meet, with its file and line: pages, the console, help,
// errors with status and code, log lines with their level, and the other texts of the sources.

await makeReady({ dev: true });
const { default: ts } = await import("typescript");
const { PROBLEMS } = await import("../dist/src/http/problem.js");

const HELP = /^(summary|description|usage|(requiredO|o|O)ption|argument|Argument|addHelpText)$/;
const LEVEL = /^(debug|info|warn|error|fatal)$/;
const WORD = /\p{L}/u;
const TWO_WORDS = /\p{L}[.,:;]? \p{L}/u;

const pages = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
  .concat(filesBelow("docs", /\.md$/), filesBelow("packages", /\/README\.md$/))
  .concat(filesBelow("site/pages", /\.md$/));
const sources = ["bin", "scripts", "site", "src"].flatMap((room) =>
  filesBelow(room, /(?<!\.d)\.(js|ts|tsx)$/),
);
const entries = [...pages.flatMap(entriesOfPage), ...sources.flatMap(entriesOfSource)];
for (const kind of ["page", "console", "help", "error", "log", "text"]) {
  console.log(`===== ${kind} =====`);
  for (const { place, label, text } of entries.filter((entry) => entry.kind === kind)) {
    console.log([place, ...(label ? [label] : []), text].join(" | "));
  }
}

function entriesOfPage(file) {
  const lines = read(file).split("\n");
  return lines.flatMap((text, at) =>
    text ? [{ kind: "page", place: `${file}:${at + 1}`, text }] : [],
  );
}

function entriesOfSource(file) {
  const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true);
  const entries = [];
  visit(source, { kind: /^site\/(console|desk)\//.test(file) ? "console" : "text" });
  return entries;

  function visit(node, use) {
    if (ts.isTaggedTemplateExpression(node) || ts.isImportDeclaration(node)) return; // SQL; paths.
    if (ts.isJsxAttribute(node) && node.name.getText() === "className") return;
    const inserted = [];
    const text = textOf(node, inserted)?.replace(/\s+/g, " ").trim();
    if (text === undefined) {
      const useBelow = useOf(node) ?? use;
      ts.forEachChild(node, (child) => visit(child, useBelow));
      return;
    }
    const mayBeOneWord = isJsx(node) || use.kind === "log";
    if ((mayBeOneWord ? WORD : TWO_WORDS).test(text)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      entries.push({ ...use, place: `${file}:${line + 1}`, text });
    }
    for (const one of inserted) visit(one, use);
  }
}

/** Returns what a call or a list does with its texts, or undefined. */
function useOf(node) {
  const code = [...(node.arguments ?? node.elements ?? [])].find(
    ({ text }) => text in PROBLEMS,
  )?.text;
  if (code) return { kind: "error", label: `${PROBLEMS[code].status} ${code}` };
  if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) return;
  const called = node.expression;
  const name = called.name?.text ?? called.text ?? "";
  if (LEVEL.test(name) && /log/i.test(called.expression?.getText()))
    return { kind: "log", label: name };
  if (HELP.test(name)) return { kind: "help" };
  if (name === "noSuch") return { kind: "error", label: "404 not_found" };
  if (/^(Busy|Crowded)$/.test(name)) return { kind: "error", label: "503 unavailable" };
  if (/(Error|Fault)$/.test(name)) return { kind: "error" };
}

/** Returns the text of a node, with `…` for each inserted value, or undefined for other nodes. */
function textOf(node, inserted) {
  if (ts.isStringLiteralLike(node)) return node.text;
  const insert = (part) => (inserted.push(part), "…");
  if (ts.isTemplateExpression(node)) {
    const parts = node.templateSpans.map((span) => insert(span.expression) + span.literal.text);
    return node.head.text + parts.join("");
  }
  if (isJsx(node)) {
    return node.children.map((part) => (ts.isJsxText(part) ? part.text : insert(part))).join("");
  }
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return;
  const parts = [node.left, node.right];
  const texts = parts.map((part) => textOf(part, inserted));
  if (texts.every((text) => text === undefined)) return;
  return texts.map((text, at) => text ?? insert(parts[at])).join("");
}

function isJsx(node) {
  const isElement = ts.isJsxElement(node) || ts.isJsxFragment(node);
  return isElement && node.children.some((part) => ts.isJsxText(part) && WORD.test(part.text));
}

function filesBelow(folder, pattern) {
  const paths = readdirSync(join(ROOT, folder), { recursive: true });
  return paths
    .map((path) => `${folder}/${path}`)
    .filter((path) => pattern.test(path))
    .sort();
}

function read(path) {
  return readFileSync(join(ROOT, path), "utf8");
}
