import { digestOf, ICON, type Output, TYPES } from "./output.ts";
import { readSource, sourcesIn } from "./source.ts";

const FOLDER = "site/assets/console";

/**
 * The operators' page and its assets. The assets' folder is named after their content, so that
 * modules can import each other by name and never load one of another build.
 */
export function consoleFiles(): Output[] {
  const sources = sourcesIn(FOLDER).map((name) => [name, readSource(`${FOLDER}/${name}`)] as const);
  const loaded = [...sources, ["icon.svg", ICON] as const];
  const digest = digestOf(JSON.stringify(loaded));
  const root = `/console/assets/${digest}`;

  const page = { file: "console.html", type: TYPES.html };
  return [
    { ...page, path: "/console", content: consolePage(root) },
    ...loaded.map(([name, content]) => ({
      path: `${root}/${name}`,
      file: `console.${digest}.${name.replace("/", ".")}`,
      type: typeOf(name),
      content,
    })),
  ];
}

function typeOf(name: string): string {
  if (name.endsWith(".js")) return TYPES.js;
  return name.endsWith(".css") ? TYPES.css : TYPES.svg;
}

/** The page before sign-in. Its modules load everything else from the operator API. */
function consolePage(root: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Partner API console</title>
<link rel="icon" href="${root}/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${root}/console.css">
<script type="module" src="${root}/main.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<strong>Partner API <span>console</span></strong>
<nav id="pages" aria-label="Console" hidden>
<a href="#/deliveries">Deliveries</a>
<a href="#/subscriptions">Subscriptions</a>
<a href="#/organizations">Organizations</a>
</nav>
<button id="refresh" type="button" hidden>Refresh</button>
<button id="sign-out" type="button" hidden>Sign out</button>
</header>
<p id="notice" role="status"></p>
<main id="content" tabindex="-1">
<noscript><p>The console needs JavaScript. The command line has the same functions.</p></noscript>
</main>
</body>
</html>
`;
}
