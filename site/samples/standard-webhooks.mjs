import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.PARTNER_SECRET);

/** Throws unless the delivery is genuine. */
export function check(headers, rawBody) {
  return webhook.verify(rawBody.toString(), headers);
}
