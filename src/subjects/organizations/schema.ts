import { Type } from "typebox";
import { pageOfCells, Timestamp } from "../../http/schema.ts";
import { CellName } from "../cells/schema.ts";
import { RATE_LIMIT_DEFAULT, RATE_LIMIT_MAX, SLUG, SLUG_RULE } from "./rules.ts";

const EXAMPLE = {
  id: "org_6f1d2c3b-7a85-4e0c-8f55-0c9d0f1f7a10",
  slug: "acme",
  rate_limit_per_minute: 600,
  created_at: "2026-01-31T09:00:00.000Z",
};

export const Organization = Type.Object(
  {
    id: Type.String({ description: "`org_<uuid>`" }),
    slug: Type.String(),
    rate_limit_per_minute: Type.Integer({ description: "All keys of the organization share it." }),
    created_at: Timestamp,
    cell: CellName,
  },
  { title: "Organization", description: "A partner's account.", examples: [EXAMPLE] },
);

export const OrganizationsPage = pageOfCells(
  Organization,
  "OrganizationsPage",
  "Organizations, ordered by slug.",
);

const RateLimit = Type.Integer({
  minimum: 1,
  maximum: RATE_LIMIT_MAX,
  description: `Requests a minute, from 1 to ${RATE_LIMIT_MAX}; ${RATE_LIMIT_DEFAULT} for a new organization.`,
});

/** `cells`: those that may be asked for. */
export const organizationRequest = (cells: string[]) =>
  Type.Object(
    {
      slug: Type.String({ pattern: SLUG.source, description: `${SLUG_RULE}.` }),
      rate_limit_per_minute: Type.Optional(RateLimit),
      cell: Type.Optional(
        Type.String({
          enum: cells,
          description:
            "The cell that holds it permanently. Default: from a gateway, the cell with the fewest organizations.",
        }),
      ),
    },
    { title: "OrganizationRequest", examples: [{ slug: EXAMPLE.slug }] },
  );

export const RateLimitRequest = Type.Object(
  { rate_limit_per_minute: RateLimit },
  { title: "RateLimitRequest", examples: [{ rate_limit_per_minute: 1200 }] },
);

export const OrganizationParams = Type.Object({
  id: Type.String({ description: "`org_<uuid>`, or the slug." }),
});

/** The organization of a listed item. */
export const OrganizationLabel = Type.Object(
  { id: Type.String({ description: "`org_<uuid>`" }), slug: Type.String() },
  { title: "OrganizationLabel", description: "The organization that owns it." },
);

/** The pattern of a text that is not empty or only white space. */
export const NOT_BLANK = "\\S";

/** The query parameter that limits a list to one organization. */
export const OrganizationFilter = Type.Optional(
  Type.String({
    pattern: NOT_BLANK,
    description: "Only of this organization: `org_<uuid>` or a slug.",
  }),
);
