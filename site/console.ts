import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { digestOf, ICON, type Output, TYPES } from "./output.ts";
import { ROOT } from "./source.ts";

const FOLDER = "site/console";

/** Every browser of the last two years. */
const TARGET = "es2023";

/** The operators' page, its script and its style. A digest in their names keeps builds apart. */
export async function consoleFiles(): Promise<Output[]> {
  const [script, style] = await Promise.all([
    bundle(`${FOLDER}/main.tsx`),
    bundle(`${FOLDER}/theme/theme.css`),
  ]);
  const assets = {
    script: pageAsset("console", "console.js", TYPES.js, script),
    style: pageAsset("console", "console.css", TYPES.css, style),
    icon: pageAsset("console", "icon.svg", TYPES.svg, ICON),
  };
  const content = consolePage(assets);
  return [
    { path: "/console", file: "console.html", type: TYPES.html, content },
    ...Object.values(assets),
  ];
}

/** One file from an entry and everything that it imports. `define` gives values to names. */
export async function bundle(entry: string, define: Record<string, string> = {}): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: fileURLToPath(ROOT),
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: "esm",
    target: TARGET,
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    write: false,
    define,
  });
  return outputFiles.map(({ text }) => text).join("");
}

/** A file of a page. A digest of its content is in its name. */
export function pageAsset(page: string, name: string, type: string, content: string): Output {
  const file = name.replace(".", `.${digestOf(content)}.`);
  return { path: `/${page}/assets/${file}`, file: `${page}.${file}`, type, content };
}

/** The page before sign-in. Its script loads everything else from the operator API. */
function consolePage({ script, style, icon }: Record<"script" | "style" | "icon", Output>): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="application-name" content="Partner API console">
<title>Partner API console</title>
<link rel="icon" href="${icon.path}" type="image/svg+xml">
<link rel="stylesheet" href="${style.path}">
<script type="module" src="${script.path}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<div id="console">
<noscript><p>The console needs JavaScript. The command line has the same functions.</p></noscript>
</div>
</body>
</html>
`;
}
