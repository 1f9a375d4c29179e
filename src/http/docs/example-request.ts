import type { EventType } from "../../domain/event-types.ts";
import { EXAMPLE, exampleBody } from "../../domain/example-event.ts";
import { publicId } from "../../domain/ids.ts";
import { signatureHeaders } from "../../webhook/sign.ts";

/** Returns the body of an example delivery, indented. */
export function envelope({ name, example }: EventType): string {
  return JSON.stringify(JSON.parse(exampleBody(name, example).toString("utf8")), null, 2);
}

/** Returns the headers and the body of an example delivery, with a valid signature. */
export function exampleRequest({ name, example }: EventType): {
  headers: Record<string, string>;
  body: string;
} {
  const body = exampleBody(name, example);
  const headers = {
    Host: "partner.example",
    "Content-Type": "application/json",
    ...signatureHeaders({
      signingSecret: EXAMPLE.signingSecret,
      eventId: publicId("evt", EXAMPLE.eventId),
      timestampMs: EXAMPLE.time.getTime() + 123,
      body,
    }),
    "X-VC-Attempt": "1",
  };
  return { headers, body: body.toString("utf8") };
}
