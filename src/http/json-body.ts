import { isUtf8 } from "node:buffer";
import { PartnerError } from "../domain/errors.ts";
import type { App } from "./app.ts";

const IDENTITY = "identity";
const CODED = new PartnerError("unsupported_media_type", "Send the body without Content-Encoding.");
const NOT_UTF8 = new PartnerError("malformed_request", "The body is not UTF-8.");

/**
 * Reads JSON, in UTF-8 alone (RFC 8259): bytes that are none would become other signs without a word. Nothing is
 * decompressed. Unknown members are ignored, whatever their names.
 */
export function readJsonBodies(app: App): void {
  const parse = app.getDefaultJsonParser("remove", "remove");
  app.addContentTypeParser<Buffer>(
    "application/json",
    { parseAs: "buffer" },
    (request, body, done) => {
      const { "content-encoding": coding = IDENTITY } = request.headers;
      if (coding.toLowerCase() !== IDENTITY) done(CODED);
      else if (!isUtf8(body)) done(NOT_UTF8);
      else void parse(request, body.toString(), done);
    },
  );
}
