import { createPartnerClient } from "@partner-api/client";

const { PARTNER_API, PARTNER_TOKEN, RECEIVER_URL } = process.env;
const partner = createPartnerClient({ baseUrl: PARTNER_API, token: PARTNER_TOKEN });

const { data, error } = await partner.createSubscription({
  url: RECEIVER_URL,
  events: ["vc.test.ping"],
});
console.log(error ? error.code : data);
