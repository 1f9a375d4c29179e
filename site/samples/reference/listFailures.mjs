import { createPartnerClient } from "@partner-api/client";

const { PARTNER_API, PARTNER_TOKEN, SUBSCRIPTION_ID } = process.env;
const partner = createPartnerClient({ baseUrl: PARTNER_API, token: PARTNER_TOKEN });

// Fetches further pages as needed.
for await (const failure of partner.failures(SUBSCRIPTION_ID)) {
  console.log(failure.attempted_at, failure.event_id, failure.attempt, failure.reason);
}
