import { isUtf8 } from "node:buffer";
import { PartnerError } from "../domain/errors.ts";
import type { App } from "./app.ts";

/**
 * Reads JSON, in UTF-8 alone (RFC 8259): bytes that are none would become other signs without a word. Unknown members
 * are ignored, whatever their names.
 */
export function readJsonBodies(app: App): void {
  const parse = app.getDefaultJsonParser("remove", "remove");
  app.addContentTypeParser<Buffer>(
    "application/json",
    { parseAs: "buffer" },
    (request, body, done) => {
      if (isUtf8(body)) void parse(request, body.toString(), done);
      else done(new PartnerError("malformed_request", "The body is not UTF-8."));
    },
  );
}
