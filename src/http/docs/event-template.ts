/** The placeholders for event types, which only a running service knows. */
export const EVENT_TEMPLATE = {
  /** The template page, which is served only under the names of types. */
  path: "/docs/event-type",
  title: "event-type-title",
  summary: "event-type-summary",
  content: "<!-- event-type-content -->",
  /** On the page that lists the types. */
  list: "<!-- event-types -->",
};
