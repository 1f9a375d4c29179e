import { applicationFiles } from "./console.ts";
import { anchorOf } from "./markdown.ts";
import type { Output } from "./output.ts";
import { readSource } from "./source.ts";
import type { Cause, ReceiverCommands } from "./desk/texts.ts";
import { TEST_EVENT, TEST_EVENT_DATA } from "../src/subjects/events/rules.ts";

/** The partners' page, its script and its style. The service fills in the title and what the page tells of it. */
export function deskFiles(): Promise<Output[]> {
  return applicationFiles({
    name: "desk",
    style: "theme.css",
    define: {
      CAUSES: JSON.stringify(causes()),
      RECEIVERS: JSON.stringify(receivers()),
      TEST_EVENT: `{"event":${JSON.stringify(TEST_EVENT)},"data":${TEST_EVENT_DATA}}`,
    },
    title: "<!-- title -->",
    head: `<link rel="stylesheet" href="/desk/brand.css">\n`,
    root: `<div id="desk" data-facts="<!-- facts -->">
<noscript><p>This page needs JavaScript. <a href="/docs/quickstart">The same with curl</a>.</p></noscript>
</div>`,
  });
}

/** The sections of the troubleshooting page, by the reason that heads them. */
function causes(): Record<string, Cause> {
  const page = readSource("site/pages/troubleshooting.md");
  const details = detailsOf(page);
  const sections = page.split(/^## `/m).slice(1);
  return Object.fromEntries(
    sections.map((section) => {
      const [reason = "", rest = ""] = section.split(/`.*\n([\s\S]*)/);
      const paragraphs = rest
        .replace(/```[\s\S]*?```/g, "")
        .split(/\n{2,}/)
        .map(plain);
      const repair = paragraphs.find((text) => text.startsWith("Repair.")) ?? "";
      const cause = {
        meaning: withoutColon(paragraphs.find((text) => text !== "" && text !== repair) ?? ""),
        repair: repair.replace(/^Repair\. /, ""),
        anchor: anchorOf(reason),
      };
      const own = reason === "http_<status>" ? statusesOf(rest, cause.meaning) : details[reason];
      return [reason, { ...cause, details: own ?? {} }];
    }),
  );
}

/** The rows of the table of statuses. */
function statusesOf(section: string, meaning: string): Cause["details"] {
  const rows = [...section.matchAll(/^\| ((?:`\dxx`|`\d{3}`)(?:, `\d{3}`)*) \| (.+) \|$/gm)];
  return Object.fromEntries(
    rows.flatMap(([, statuses = "", repair = ""]) =>
      [...statuses.matchAll(/\w+/g)].map(([status]) => [
        status,
        { meaning, repair: asSentence(repair) },
      ]),
    ),
  );
}

/** The rows of the table of causes, by reason and detail. */
function detailsOf(page: string): Record<string, Cause["details"]> {
  const rows = page.matchAll(/^\| (?:`(\w+)`)? ?\| `(\w+)` \| (.+?) \| (.+?) \|/gm);
  const found: Record<string, Cause["details"]> = {};
  let reason = "";
  for (const [, of = reason, detail = "", cause = "", repair = ""] of rows) {
    reason = of;
    (found[reason] ??= {})[detail] = { meaning: asSentence(cause), repair: asSentence(repair) };
  }
  return found;
}

function asSentence(cell: string): string {
  const text = plain(cell);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** A sentence that leads to a block of code, which the desk does not show, says nothing without it. */
function withoutColon(text: string): string {
  return text.replace(/(^|(?<=\.) )[^.]*:$/, "");
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
