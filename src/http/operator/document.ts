import { SESSION_COOKIE } from "./session-cookie.ts";

/** The parts of the OpenAPI document besides the operations. */
export const OPERATOR_DOCUMENT = {
  info: {
    title: "Partner API for operators",
    version: "1.0.0",
    summary: "Organizations and their keys, subscriptions and deliveries",
    description:
      "Organizations and their keys, subscriptions and deliveries. It is served only on the operators' listener. " +
      "Lists are `{items, next_cursor}`. The console's session cookie can replace a token.",
  },
  tags: [
    { name: "Organizations", description: "Partners' accounts." },
    { name: "Keys", description: "The API keys of organizations." },
    { name: "Subscriptions", description: "The subscriptions of all organizations." },
    {
      name: "Deliveries",
      description: "Events on their way to subscriptions, and their attempts.",
    },
    { name: "Redeliveries", description: "Jobs that send many deliveries again." },
    { name: "Events", description: "Publishing events, and their deliveries." },
    {
      name: "Operation",
      description: "The health and the activity of the service, and the changes by operators.",
    },
    {
      name: "Cells",
      description: "What a gateway needs of the services that it puts together.",
    },
    { name: "Session", description: "Signing in to the console and out of it." },
  ],
  security: {
    operatorToken: {
      type: "http",
      scheme: "bearer",
      description:
        "A token of ADMIN_TOKEN, or the token in the file admin-token of the data folder.",
    },
    operatorSession: {
      type: "apiKey",
      in: "cookie",
      name: SESSION_COOKIE,
      description:
        "The cookie that `POST /session` sets. A change also needs `X-Requested-With: console`.",
    },
  },
} as const;
