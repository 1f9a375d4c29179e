import { createPartnerClient } from "@partner-api/client";

const { PARTNER_API, PARTNER_TOKEN, SUBSCRIPTION_ID, PARTNER_SECRET } = process.env;
const partner = createPartnerClient({ baseUrl: PARTNER_API, token: PARTNER_TOKEN });

const { data, error } = await partner.sendTestEvent(SUBSCRIPTION_ID, PARTNER_SECRET);
console.log(error ? error.code : data);
