import "../bin/node-version.js";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { makeReady, ROOT } from "./ready.js";

// Prints every sentence that a person can meet: pages, help texts, errors, log lines, the console.

await makeReady({ dev: true });
const { default: ts } = await import("typescript");
const { buildProgram } = await import("../dist/src/commands/program.js");

const PAGES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
  .concat(filesBelow("docs", ".md"), filesBelow("packages", "/README.md"))
  .concat(filesBelow("dist/docs", "/markdown."));
const SOURCES = ["bin", "scripts", "site", "src"].flatMap((room) => filesBelow(room, ""));

for (const path of PAGES) print(path, read(path));
printHelp(buildProgram({}), "partner-api");
for (const path of SOURCES.filter((one) => /\.(js|tsx?)$/.test(one))) {
  const texts = textsOf(ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest));
  if (texts.length > 0) print(path, texts.join("\n"));
}

function printHelp(command, name) {
  print(`${name} --help`, command.helpInformation());
  for (const child of command.commands) printHelp(child, `${name} ${child.name()}`);
}

/** Returns the texts below a node that hold at least two words. JSX shows single words, too. */
function textsOf(node) {
  if (ts.isTaggedTemplateExpression(node) || ts.isImportDeclaration(node)) return []; // SQL; paths.
  const text = textOf(node);
  if (text === undefined) {
    const texts = [];
    ts.forEachChild(node, (child) => void texts.push(...textsOf(child)));
    return texts;
  }
  const line = text.replace(/\s+/g, " ").trim();
  return (ts.isJsxText(node) ? /\p{L}/u : /\p{L} \p{L}/u).test(line) ? [line] : [];
}

/** Returns the text of a literal, with `…` for an inserted value, or undefined for other nodes. */
function textOf(node) {
  if (ts.isStringLiteralLike(node) || ts.isJsxText(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join("");
  }
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return;
  const [left, right] = [textOf(node.left), textOf(node.right)];
  return left === undefined || right === undefined ? undefined : left + right;
}

function filesBelow(folder, part) {
  const paths = readdirSync(join(ROOT, folder), { recursive: true });
  return paths
    .map((path) => `${folder}/${path}`)
    .filter((path) => path.includes(part))
    .sort();
}

function read(path) {
  return readFileSync(join(ROOT, path), "utf8");
}

function print(title, text) {
  console.log(`\n===== ${title} =====\n${text.trimEnd()}`);
}
