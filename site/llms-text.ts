import { ABOUT } from "../src/http/docs/routes.ts";
import { DOCS_BASE_URL } from "../src/http/docs/site.ts";
import { markdownPath, PAGES } from "./pages.ts";

/** The list of pages for language models, in the format of llmstxt.org. */
export function llmsText(): string {
  const groups = [...new Set(PAGES.map(({ group }) => group))];
  const sections = groups.map((group) => {
    const links = PAGES.filter((page) => page.group === group).map(
      (page) => `- [${page.title}](${DOCS_BASE_URL}${markdownPath(page)}): ${page.summary}`,
    );
    return `## ${group}\n\n${links.join("\n")}`;
  });
  return [
    "# Partner API",
    "> Partners check their API key and subscribe HTTPS URLs to events. Each event arrives as a signed POST, with up to seven attempts over 33 hours.",
    `The OpenAPI 3.1 document is at ${DOCS_BASE_URL}/api/v1/partner/openapi.json.`,
    ...sections,
    ABOUT.contact,
  ].join("\n\n");
}
