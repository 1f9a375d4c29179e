import { verify } from "@partner-api/webhook";

/** Returns 204 and the event, or 400 and the verdict. */
export async function check(headers, rawBody) {
  const { verdict, event } = await verify({
    secret: [process.env.PARTNER_SECRET], // Several during a rotation.
    headers, // Fetch Headers or Node.js request.headers.
    body: rawBody, // The raw bytes, not a parsed object.
  });
  return verdict === "valid" ? { status: 204, event } : { status: 400, verdict };
}
