import { createPartnerClient } from "@partner-api/client";

const { PARTNER_API, PARTNER_TOKEN } = process.env;
const partner = createPartnerClient({ baseUrl: PARTNER_API, token: PARTNER_TOKEN });

const { data, error } = await partner.getIdentity();
console.log(error ? error.code : data);
