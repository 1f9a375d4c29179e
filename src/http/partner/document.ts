/** The parts of the OpenAPI document besides the operations. */
export const PARTNER_DOCUMENT = {
  info: {
    title: "Partner API",
    version: "1.0.0",
    description:
      "Learn who you are, and subscribe https URLs to events. Each event is delivered, signed, until it is " +
      "acknowledged or its seven attempts are used up.\n\n" +
      "Every answer carries `X-Request-Id`; every answer behind authentication also carries `RateLimit-Policy` and " +
      "`RateLimit`. Beside the errors that each operation lists, any request may be answered by 400, 404, 405, " +
      "408 or 431, in the same shape. New members of answers and new error codes may come: ignore what you do " +
      "not know.",
    license: { name: "MIT", identifier: "MIT" },
  },
  security: {
    apiKey: {
      type: "http",
      scheme: "bearer",
      bearerFormat: "vck_<key_id>.<secret>",
      description: "The whole token. The word `Bearer` may be left out.",
    },
  },
} as const;
