import { ABOUT } from "../src/http/docs/routes.ts";
import { DOCS_BASE_URL } from "../src/http/docs/site.ts";
import { downloadOf } from "./downloads.ts";
import { infoOf } from "./info.ts";
import type { PageSource } from "./pages.ts";
import { readSource } from "./source.ts";

/** A page's text for tools: files shown in place, tabs as paragraphs, full addresses of other such pages, no HTML. */
export function plainMarkdown({ title, summary }: PageSource, markdown: string): string {
  const text = markdown
    .replace(/^<figure[\s\S]*?<\/figure>\n/gm, "")
    .replace(/^<a href="(.+?)"><strong>(.+?)<\/strong> (.*)<\/a>$/gm, "- [$2]($1): $3")
    .replace(/^<\/?div.*>\n/gm, "")
    .replace(/^:::.*\n/gm, "")
    .replace(/^```(\S+ .+)\n([\s\S]*?)```$/gm, (_, lang: string, written: string) =>
      fence(lang, written),
    )
    .replace(/\]\(\/docs(\/[a-z-]+)?(?=[)#])/g, (_, page = "/index") => `](/docs${String(page)}.md`)
    .replace(/\]\(\/(?=docs|desk)/g, `](${DOCS_BASE_URL}/`);
  return `# ${title}\n\n${summary}\n\n${text.trim()}\n\n${ABOUT.contact}\n`;
}

function fence(lang: string, written: string): string {
  const { language, title, file } = infoOf({ lang });
  const code = file === undefined ? written : `${readSource(file).trimEnd()}\n`;
  const block = `\`\`\`${language}\n${code}\`\`\``;
  const name = file === undefined ? undefined : downloadOf(file);
  const head = [
    ...(title === undefined ? [] : [`**${title}**`]),
    ...(name === undefined ? [] : [`[${name}](/docs/files/${name})`]),
  ].join(" ");
  return head === "" ? block : `${head}\n\n${block}\n`;
}
