import { aCase, EVENT, mac, NOW, OTHER_SECRET, SECRET } from "./case.ts";

const LATER_SECRET = "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj9A";
const DECODED = Buffer.from(SECRET.slice("whsec_".length), "base64");

/** The key is the whole secret as issued, in UTF-8. Several secrets are valid during a rotation. */
export const SECRETS = [
  aCase("valid", "two secrets, the first of which signed", { secrets: [SECRET, OTHER_SECRET] }),
  aCase("valid", "two secrets, the second of which signed", { secrets: [OTHER_SECRET, SECRET] }),
  aCase("valid", "three secrets, the last of which signed", {
    secrets: [OTHER_SECRET, LATER_SECRET, SECRET],
  }),
  aCase("valid", "the same secret twice", { secrets: [SECRET, SECRET] }),
  under("valid", "a secret with plus and slash", OTHER_SECRET, [OTHER_SECRET]),
  under("valid", "a secret longer than a block of SHA-256", aLongSecret(), [aLongSecret()]),
  under("valid", "a secret with letters beyond ASCII", "whsec_Zürich", ["whsec_Zürich"]),

  aCase("forged", "the secret of another subscription", { secrets: [OTHER_SECRET] }),
  aCase("forged", "two secrets, neither of which signed", {
    secrets: [OTHER_SECRET, LATER_SECRET],
  }),
  aCase("forged", "a secret with one more letter", { secrets: [`${SECRET}g`] }),
  aCase("forged", "a secret in lower case", { secrets: [SECRET.toLowerCase()] }),
  aCase("forged", "a secret without its last letter", { secrets: [SECRET.slice(0, -1)] }),
  under("forged", "a signature under the decoded secret, as in Standard Webhooks", DECODED),
  under("forged", "a signature under an empty secret", ""),
  under("forged", "a signature under the prefix alone", "whsec_"),
];

function under(
  verdict: "valid" | "forged",
  what: string,
  key: string | Uint8Array,
  secrets = [SECRET],
) {
  return aCase(verdict, what, { secrets, signature: `sha256=${mac(key, `${NOW}.`, EVENT)}` });
}

function aLongSecret(): string {
  return `whsec_${"AAECAwQFBgcI".repeat(12)}`;
}
