import { Type } from "typebox";
import { CEILING_MAX } from "../../domain/ceiling.ts";
import { nullable } from "../nullable-schema.ts";
import { pageOfCells } from "../page-schema.ts";
import { Subscriptions } from "../subscription-schema.ts";
import { OrganizationLabel } from "./organization-schema.ts";

const Ceiling = nullable(
  Type.Integer({
    minimum: 1,
    maximum: CEILING_MAX,
    description: `Attempts per second, from 1 to ${CEILING_MAX}; null for no ceiling.`,
  }),
);

export const OperatedSubscription = Type.Object(
  { ...Subscriptions.items.properties, organization: OrganizationLabel, max_per_second: Ceiling },
  {
    title: "OperatedSubscription",
    description: "A subscription, with its organization and the ceiling on its attempts.",
  },
);

export const OperatedSubscriptionsPage = pageOfCells(
  OperatedSubscription,
  "SubscriptionsPage",
  "Subscriptions, newest first.",
);

export const CeilingRequest = Type.Object(
  { max_per_second: Ceiling },
  { title: "CeilingRequest", examples: [{ max_per_second: 10 }] },
);
