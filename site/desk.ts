import { applicationFiles } from "./console.ts";
import { anchorOf } from "./markdown.ts";
import type { Output } from "./output.ts";
import { readSource } from "./source.ts";
import type { Cause, ReceiverCommands } from "./desk/texts.ts";

/** The partners' page, its script and its style. The service fills in the title and what the page tells of it. */
export function deskFiles(): Promise<Output[]> {
  return applicationFiles({
    name: "desk",
    style: "theme.css",
    define: { CAUSES: JSON.stringify(causes()), RECEIVERS: JSON.stringify(receivers()) },
    title: "<!-- title -->",
    head: `<link rel="stylesheet" href="/desk/brand.css">\n`,
    root: `<div id="desk" data-facts="<!-- facts -->">
<noscript><p>This page needs JavaScript. <a href="/docs/quickstart">The same with curl</a>.</p></noscript>
</div>`,
  });
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
        anchor: anchorOf(reason),
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
