import { changelog } from "./generated/changelog.ts";
import { errors } from "./generated/errors.ts";
import { events } from "./generated/events.ts";
import { reference } from "./generated/reference.ts";
import { retryPicture } from "./generated/retry-picture.ts";
import { retryTable } from "./generated/retry-table.ts";

/** What pages take from the code itself, as Markdown, by the name that they call it. */
export const GENERATED: Record<string, () => string | Promise<string>> = {
  changelog,
  errors,
  events,
  reference,
  "retry-picture": retryPicture,
  "retry-table": retryTable,
};
