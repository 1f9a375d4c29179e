import { EVENT_TEMPLATE } from "../src/http/docs/event-pages.ts";

/** A page of the documentation. Its text is in site/pages/<name>.md. */
export interface PageSource {
  name: string;
  path: string;
  title: string;
  /** One sentence for search engines, link previews and the page's head. */
  summary: string;
  /** Its heading in the navigation. */
  group: string;
}

/** The path of a page's text as Markdown. */
export function markdownPath({ name, path }: PageSource): string {
  return name === "index" ? "/docs/index.md" : `${path}.md`;
}

const page = (group: string, name: string, title: string, summary: string): PageSource => ({
  group,
  name,
  path: `/docs/${name}`,
  title,
  summary,
});

const START = "Get started";
const BUILD = "Build";
const REFERENCE = "Reference";

/** All pages in reading order. */
export const PAGES: readonly PageSource[] = [
  {
    ...page(START, "index", "Overview", "What the Partner API does and where to start."),
    path: "/docs",
  },
  page(START, "quickstart", "Quickstart", "Receive and verify an event in ten minutes."),
  page(
    START,
    "local-testing",
    "Test on your laptop",
    "Simulate successful and failed deliveries on your own machine.",
  ),
  page(START, "going-live", "Going live", "What to check before your first real event."),
  page(BUILD, "authentication", "Authentication", "API keys, scopes, and how to rotate a key."),
  page(BUILD, "subscriptions", "Subscriptions", "Choose which events we send and where."),
  page(
    BUILD,
    "deliveries",
    "Deliveries and retries",
    "What we send, what counts as success, and how we retry.",
  ),
  page(
    BUILD,
    "verifying",
    "Verifying deliveries",
    "Check that a delivery is genuine, unchanged and recent, in five languages.",
  ),
  page(
    BUILD,
    "troubleshooting",
    "Troubleshooting",
    "Why deliveries fail, what curl shows, and how to repair it.",
  ),
  page(
    REFERENCE,
    "reference",
    "API reference",
    "The six calls with their parameters, responses and errors.",
  ),
  page(REFERENCE, "events", "Events", "Every event type with an example."),
  page(REFERENCE, "errors", "Errors", "Every error code with its cause and solution."),
  page(REFERENCE, "limits", "Limits", "All limits on one page."),
  page(
    REFERENCE,
    "versions",
    "Versions",
    "What may change, what never does, and how we announce it.",
  ),
  page(REFERENCE, "changelog", "Changelog", "What changed for partners in each version."),
];

/** The parts that a running service fills in for each of its event types. */
export const EVENT_TYPE: PageSource = {
  ...page("", "event-type", EVENT_TEMPLATE.title, EVENT_TEMPLATE.summary),
  path: EVENT_TEMPLATE.path,
};

/** Shown for a page that does not exist. */
export const NOT_FOUND: PageSource = {
  ...page("", "not-found", "Page not found", "This page does not exist."),
  path: "/docs/not-found",
};
