/** The parts of the OpenAPI document besides the operations. */
export const PARTNER_DOCUMENT = {
  info: {
    title: "Partner API",
    version: "1.0.0",
    summary: "Identity, and signed deliveries of events",
    description:
      "Check your API key, and subscribe https URLs to events. Each event is signed and sent until the receiver " +
      "acknowledges it or seven attempts have failed.\n\n" +
      "Every response carries `X-Request-Id`. Every authenticated response also carries `RateLimit-Policy` and " +
      "`RateLimit`. Besides the errors that an operation lists, any request may be answered with 400, 404, 405, " +
      "408 or 431, in the same format. Responses may gain new members and error codes: ignore those that you do " +
      "not know.",
  },
  tags: [
    { name: "Identity", description: "The organization and the scopes of the key." },
    { name: "Subscriptions", description: "The URLs that receive events." },
    { name: "Deliveries", description: "Test events, and the audit of failed attempts." },
    { name: "Events", description: "The deliveries that a subscription's URL receives." },
  ],
  security: {
    apiKey: {
      type: "http",
      scheme: "bearer",
      bearerFormat: "vck_<key_id>.<secret>",
      description: "The whole token. The word `Bearer` is optional.",
    },
  },
} as const;
