/** What the OpenAPI document says beside the operations. */
export const OPERATOR_DOCUMENT = {
  info: {
    title: "Partner API for operators",
    version: "1.0.0",
    description:
      "Organizations and their keys, and what becomes of subscriptions and deliveries. It is served on the " +
      "operators' listener alone.",
    license: { name: "MIT", identifier: "MIT" },
  },
  security: {
    operatorToken: {
      type: "http",
      scheme: "bearer",
      description: "A token of ADMIN_TOKEN, or the one in the file admin-token of the data folder.",
    },
  },
} as const;
