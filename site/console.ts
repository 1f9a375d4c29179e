import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { digestOf, ICON, type Output, TYPES } from "./output.ts";
import { ROOT } from "./source.ts";

/** Every browser of the last two years. */
const TARGET = "es2023";

/** A page that a script makes in the browser. */
export interface Application {
  name: string;
  style: string;
  /** Values for names in its script. */
  define?: Record<string, string>;
  /** The name that browsers show. */
  title: string;
  /** Further lines of its head. */
  head?: string;
  /** The page before its script runs. */
  root: string;
}

/** The operators' page, its script and its style. */
export function consoleFiles(): Promise<Output[]> {
  return applicationFiles({
    name: "console",
    style: "theme/theme.css",
    title: "Partner API console",
    root: `<div id="console">
<noscript><p>The console needs JavaScript. The command line has the same functions.</p></noscript>
</div>`,
  });
}

/** A page, its script and its style. A digest in their names keeps builds apart. */
export async function applicationFiles(application: Application): Promise<Output[]> {
  const { name, style, define = {} } = application;
  const [script, styles] = await Promise.all([
    bundle(`site/${name}/main.tsx`, define),
    bundle(`site/${name}/${style}`),
  ]);
  const assets = {
    script: asset(name, `${name}.js`, TYPES.js, script),
    style: asset(name, `${name}.css`, TYPES.css, styles),
    icon: asset(name, "icon.svg", TYPES.svg, ICON),
  };
  const content = pageOf(application, assets);
  return [
    { path: `/${name}`, file: `${name}.html`, type: TYPES.html, content },
    ...Object.values(assets),
  ];
}

async function bundle(entry: string, define: Record<string, string> = {}): Promise<string> {
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

function asset(page: string, name: string, type: string, content: string): Output {
  const file = name.replace(".", `.${digestOf(content)}.`);
  return { path: `/${page}/assets/${file}`, file: `${page}.${file}`, type, content };
}

/** The script loads everything else from an API of the service. */
function pageOf(
  { title, head = "", root }: Application,
  { script, style, icon }: Record<"script" | "style" | "icon", Output>,
): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="application-name" content="${title}">
<title>${title}</title>
<link rel="icon" href="${icon.path}" type="image/svg+xml">
<link rel="stylesheet" href="${style.path}">
${head}<script type="module" src="${script.path}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
${root}
</body>
</html>
`;
}
