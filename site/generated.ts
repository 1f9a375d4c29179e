import { changelog } from "./generated/changelog.ts";
import { errors, operatorErrors } from "./generated/errors.ts";
import { events } from "./generated/events.ts";
import { reference } from "./generated/reference.ts";
import { retryPicture } from "./generated/retry-picture.ts";
import { retryTable } from "./generated/retry-table.ts";

/** Generated Markdown for `{{name}}` in pages, by name. */
export const GENERATED: Record<string, () => string | Promise<string>> = {
  changelog,
  errors,
  events,
  "operator-errors": operatorErrors,
  reference,
  "retry-picture": retryPicture,
  "retry-table": retryTable,
};
