/** Where the build leaves room for event types, of which only a running service knows. */
export const EVENT_TEMPLATE = {
  /** A page that is served under the name of each type alone. */
  path: "/docs/event-type",
  title: "event-type-title",
  summary: "event-type-summary",
  content: "<!-- event-type-content -->",
  /** On the page that lists the types. */
  list: "<!-- event-types -->",
};
