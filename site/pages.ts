/** One page of the documentation, and the Markdown file that it is written in. */
export interface PageSource {
  name: string;
  path: string;
  title: string;
  /** One sentence for search engines, link previews and the page's head. */
  summary: string;
  /** The heading that it stands under in the navigation. */
  group: string;
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
const LOOK_UP = "Look up";

/** Every page, in the order in which a newcomer reads. */
export const PAGES: readonly PageSource[] = [
  {
    ...page(START, "index", "Overview", "What the Partner API does, and where to begin."),
    path: "/docs",
  },
  page(
    START,
    "quickstart",
    "Quickstart",
    "From a key to a verified event in your own code, in ten minutes.",
  ),
  page(
    START,
    "local-testing",
    "Test on your laptop",
    "Rehearse every success and every failure without leaving your machine.",
  ),
  page(START, "going-live", "Going live", "What to check before your first real event."),
  page(BUILD, "authentication", "Authentication", "API keys, scopes, and how to change a key."),
  page(BUILD, "subscriptions", "Subscriptions", "Say where events go, and which."),
  page(
    BUILD,
    "deliveries",
    "Deliveries and retries",
    "What we send, what counts as success, and what happens when it fails.",
  ),
  page(
    BUILD,
    "verifying",
    "Verifying deliveries",
    "Make sure that a delivery is ours, fresh and unchanged, in five languages.",
  ),
  page(
    LOOK_UP,
    "reference",
    "API reference",
    "The six calls: what they take and what they answer.",
  ),
  page(LOOK_UP, "events", "Events", "Every event type, with what its data holds."),
  page(LOOK_UP, "errors", "Errors", "Every error code, its cause and its cure."),
  page(LOOK_UP, "limits", "Limits", "Every limit in one place."),
  page(LOOK_UP, "changelog", "Changelog", "What changed for partners, version by version."),
];

/** Shown in place of a page that does not exist. */
export const NOT_FOUND: PageSource = {
  ...page("", "not-found", "Page not found", "There is no such page."),
  path: "/docs/not-found",
};
