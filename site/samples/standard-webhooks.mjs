import { Webhook } from "standardwebhooks";

/** Throws unless the delivery is genuine. */
export function check(headers, rawBody) {
  return new Webhook(process.env.PARTNER_SECRET).verify(rawBody.toString(), headers);
}
