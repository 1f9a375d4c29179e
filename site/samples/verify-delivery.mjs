import { verify } from "./webhook.mjs";

/** Answers 204 or 400, and the event if it is to be trusted. */
export async function check(headers, rawBody) {
  const { verdict, event } = await verify({
    secret: [process.env.PARTNER_SECRET], // Several while you change secrets.
    headers, // Fetch's Headers, or Node's request.headers.
    body: rawBody, // Bytes, not a parsed object.
  });
  return verdict === "valid" ? { status: 204, event } : { status: 400, verdict };
}
