import { Type } from "typebox";
import type { App } from "../../http/app.ts";
import { callerOf, partnerProblems } from "../../http/partner.ts";

const Identity = Type.Object(
  {
    partner_org: Type.String({ description: "The organization's slug." }),
    key_id: Type.String({ description: "The public half of the key that was used." }),
    scopes: Type.Array(Type.String(), {
      description: "The key's scopes; always contain `identity:read`.",
    }),
    rate_limit_per_minute: Type.Integer({ description: "All keys of the organization share it." }),
  },
  {
    title: "Identity",
    description: "The organization, id, scopes and rate limit of the key.",
    examples: [
      {
        partner_org: "acme",
        key_id: "0123456789abcdefghij",
        scopes: ["identity:read", "webhooks:manage"],
        rate_limit_per_minute: 600,
      },
    ],
  },
);

export function meRoute(app: App): void {
  app.get(
    "/me",
    {
      config: { scope: "identity:read" },
      schema: {
        operationId: "getIdentity",
        tags: ["Identity"],
        summary: "Check a key",
        description:
          "Returns the organization, id, scopes and rate limit of the calling key. Every active key may call it, " +
          "so it serves as the health check of an integration.",
        response: { 200: Identity, ...partnerProblems() },
      },
    },
    (request) => {
      const { slug, keyId, scopes, rateLimitPerMinute } = callerOf(request);
      return {
        partner_org: slug,
        key_id: keyId,
        scopes: [...scopes],
        rate_limit_per_minute: rateLimitPerMinute,
      };
    },
  );
}
