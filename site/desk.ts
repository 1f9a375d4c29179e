import { bundle, pageAsset } from "./console.ts";
import { ICON, type Output, TYPES } from "./output.ts";
import { readSource } from "./source.ts";
import type { Cause, ReceiverCommands } from "./desk/texts.ts";

/** The partners' page, its script and its style. The service fills in what `DESK` marks. */
export async function deskFiles(): Promise<Output[]> {
  const [script, style] = await Promise.all([
    bundle("site/desk/main.tsx", {
      CAUSES: JSON.stringify(causes()),
      RECEIVERS: JSON.stringify(receivers()),
    }),
    bundle("site/desk/theme.css"),
  ]);
  const assets = {
    script: pageAsset("desk", "desk.js", TYPES.js, script),
    style: pageAsset("desk", "desk.css", TYPES.css, style),
    icon: pageAsset("desk", "icon.svg", TYPES.svg, ICON),
  };
  const content = deskPage(assets);
  return [
    { path: "/desk", file: "desk.html", type: TYPES.html, content },
    ...Object.values(assets),
  ];
}

/** Addresses have no slash in front, so that they work below a path that a proxy adds. */
function deskPage({ script, style, icon }: Record<"script" | "style" | "icon", Output>): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="application-name" content="<!-- title -->">
<title><!-- title --></title>
<link rel="icon" href="${icon.path.slice(1)}" type="image/svg+xml">
<link rel="stylesheet" href="${style.path.slice(1)}">
<link rel="stylesheet" href="desk/brand.css">
<script type="module" src="${script.path.slice(1)}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<div id="desk" data-facts="<!-- facts -->">
<noscript><p>This page needs JavaScript. <a href="docs/quickstart">The same with curl</a>.</p></noscript>
</div>
</body>
</html>
`;
}

/** The sections of the troubleshooting page, by the reason that heads them. */
function causes(): Record<string, Cause> {
  const sections = readSource("site/pages/troubleshooting.md").split(/^## `/m).slice(1);
  return Object.fromEntries(
    sections.map((section) => {
      const [reason = "", rest = ""] = section.split(/`.*\n([\s\S]*)/);
      const paragraphs = rest
        .replace(/```[\s\S]*?```/g, "")
        .split(/\n{2,}/)
        .map(plain);
      const repair = paragraphs.find((text) => text.startsWith("Repair.")) ?? "";
      const cause = {
        meaning: paragraphs.find((text) => text !== "" && text !== repair) ?? "",
        repair: repair.replace(/^Repair\. /, ""),
        anchor: reason.replace(/[<>]/g, ""),
      };
      return [reason, cause];
    }),
  );
}

/** Markdown as plain text, because the page makes no markup from text. */
function plain(markdown: string): string {
  return markdown
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[`*]/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

function receivers(): ReceiverCommands {
  const languages = { JavaScript: "mjs", Python: "py", Go: "go" };
  return Object.fromEntries(
    Object.entries(languages).map(([language, name]) => [
      language,
      {
        get: readSource(`site/samples/get-receiver-${name}.sh`).trim(),
        start: readSource(`site/samples/start-receiver-${name}.sh`).trim(),
      },
    ]),
  );
}
