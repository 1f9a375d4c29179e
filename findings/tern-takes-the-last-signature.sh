#!/usr/bin/env bash
# @hookflo/tern 4.1.0 (npm), which verifies the webhooks of many providers, beside stripe 23.1.0 (npm).
#
# Expected: a delivery of Stripe is verified if one of the signatures v1 in its header fits, because Stripe sends one for each secret while
# a secret is being rolled ("Verify webhook signatures manually"). A delivery of Vercel is verified by HMAC-SHA1, as Vercel's guide to
# securing webhooks computes it.
# Found: of several v1 the last one alone counts. A receiver that has the other secret refuses every delivery until the roll is over.
# stripe accepts both orders. For Vercel the package computes HMAC-SHA256, so it refuses what Vercel's own example signs.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @hookflo/tern@4.1.0 stripe@23.1.0
cat > check.mjs <<'JS'
import { createHmac } from "node:crypto";
import tern from "@hookflo/tern";
import Stripe from "stripe";

const body = '{"id":"evt_1","object":"event","type":"a"}';
const time = Math.floor(Date.now() / 1000);
const hmac = (algorithm, secret, text) => createHmac(algorithm, secret).update(text).digest("hex");
const signed = (secret) => `v1=${hmac("sha256", secret, `${time}.${body}`)}`;

async function byTern(platform, secret, headers) {
  const request = new Request("http://localhost/", { method: "POST", headers, body });
  const { isValid } = await tern.WebhookVerificationService.verify(request, { platform, secret, toleranceInSeconds: 300 });
  return isValid ? "verified" : "refused";
}

const headers = {
  "one signature": `t=${time},${signed("mine")}`,
  "another, mine": `t=${time},${signed("other")},${signed("mine")}`,
  "mine, another": `t=${time},${signed("mine")},${signed("other")}`,
};
for (const [name, header] of Object.entries(headers)) {
  const stripe = new Stripe("sk_test").webhooks.constructEvent(body, header, "mine") ? "verified" : "refused";
  console.log(`Stripe, ${name}: tern ${await byTern("stripe", "mine", { "stripe-signature": header })}, stripe ${stripe}`);
}
for (const algorithm of ["sha1", "sha256"])
  console.log(`Vercel, ${algorithm}: tern`, await byTern("vercel", "mine", { "x-vercel-signature": hmac(algorithm, "mine", body) }));
JS
node check.mjs | tee found
diff found - <<'TEXT'
Stripe, one signature: tern verified, stripe verified
Stripe, another, mine: tern verified, stripe verified
Stripe, mine, another: tern refused, stripe verified
Vercel, sha1: tern refused
Vercel, sha256: tern verified
TEXT
