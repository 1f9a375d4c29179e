import { Type } from "typebox";
import { documented } from "../../http/openapi.ts";
import {
  CellsPageQuery,
  nullable,
  NullableTimestamp,
  pageOfCells,
  Timestamp,
} from "../../http/schema.ts";
import { OrganizationFilter, OrganizationLabel } from "../organizations/schema.ts";
import {
  DOCUMENTED_LABEL,
  LABEL,
  LABEL_MAX,
  LABEL_RULE,
  RESERVED_SCOPES,
  SCOPES,
} from "./rules.ts";

const SCOPES_MAX = 50;
const SCOPE_LENGTH_MAX = 100;

const KEY = {
  key_id: Type.String({
    description: "The public half of the token: 20 characters of 0-9 and a-z.",
  }),
  organization_id: Type.String({ description: "`org_<uuid>`" }),
  scopes: Type.Array(Type.String(), { description: "Always contains `identity:read`." }),
  label: nullable(Type.String()),
  created_at: Timestamp,
};

const EXAMPLE = {
  key_id: "0123456789abcdefghij",
  organization_id: "org_6f1d2c3b-7a85-4e0c-8f55-0c9d0f1f7a10",
  scopes: ["identity:read", "webhooks:manage"],
  label: "production",
  created_at: "2026-01-31T09:10:00.000Z",
};

export const IssuedKey = Type.Object(
  {
    ...KEY,
    token: Type.String({
      description: "`vck_<key_id>.<secret>`, the whole token. Only this response contains it.",
    }),
  },
  {
    title: "IssuedKey",
    description: "The key, with its token.",
    examples: [{ ...EXAMPLE, token: `vck_${EXAMPLE.key_id}.${"A".repeat(43)}` }],
  },
);

const ApiKey = Type.Object(
  {
    ...KEY,
    last_used_at: NullableTimestamp,
    revoked_at: NullableTimestamp,
    organization: OrganizationLabel,
  },
  {
    title: "ApiKey",
    description: "A key without its secret.",
    examples: [
      {
        ...EXAMPLE,
        organization: { id: EXAMPLE.organization_id, slug: "acme" },
        last_used_at: "2026-01-31T10:00:00.000Z",
        revoked_at: null,
      },
    ],
  },
);

export const KeysPage = pageOfCells(ApiKey, "KeysPage", "Keys, newest first; never a secret.");

export const KeyRequest = Type.Object(
  {
    organization: Type.String({ description: "The key's organization: `org_<uuid>` or a slug." }),
    scopes: Type.Optional(
      Type.Array(documented({ enum: [...SCOPES] }, Type.String({ maxLength: SCOPE_LENGTH_MAX })), {
        maxItems: SCOPES_MAX,
        description:
          `The key's scopes: ${SCOPES.join(", ")}. The first is added to every key. ` +
          `Reserved, and refused: ${RESERVED_SCOPES.join(", ")}.`,
      }),
    ),
    label: Type.Optional(
      nullable(
        documented(
          { pattern: DOCUMENTED_LABEL },
          Type.String({
            maxLength: LABEL_MAX,
            pattern: LABEL.source,
            description: `A name for operators: ${LABEL_RULE}.`,
          }),
        ),
      ),
    ),
  },
  {
    title: "KeyRequest",
    examples: [{ organization: "acme", scopes: ["webhooks:manage"], label: "production" }],
  },
);

export const KeysQuery = Type.Object({
  organization: OrganizationFilter,
  include_revoked: Type.Optional(
    Type.Boolean({ default: false, description: "True also lists revoked keys." }),
  ),
  ...CellsPageQuery.properties,
});

export const KeyParams = Type.Object({
  key_id: Type.String({ description: "With or without `vck_` in front; never the whole token." }),
});
