import { createHash, createHmac } from "node:crypto";
import { aCase, EVENT, mac, NOW, SECRET } from "./case.ts";

const HEX = mac(SECRET, `${NOW}.`, EVENT);
const GENUINE = `sha256=${HEX}`;

export const SIGNATURES = [
  only("malformed", "no signature", []),
  only("malformed", "the signature under another header name", [["X-Signature", GENUINE]]),
  aCase("malformed", "an empty signature", { signature: "" }),
  aCase("malformed", "a signature without its prefix", { signature: HEX }),
  aCase("malformed", "the prefix in capitals", { signature: `SHA256=${HEX}` }),
  aCase("malformed", "the prefix with a capital", { signature: `Sha256=${HEX}` }),
  aCase("malformed", "the prefix of SHA-512", { signature: `sha512=${HEX}` }),
  aCase("malformed", "the prefix of SHA-1", { signature: `sha1=${HEX}` }),
  aCase("malformed", "the prefix with a colon", { signature: `sha256:${HEX}` }),
  aCase("malformed", "the prefix with a space before it", { signature: ` ${GENUINE}` }),
  aCase("malformed", "the prefix with a space inside", { signature: `sha256 =${HEX}` }),
  aCase("malformed", "the prefix after another scheme", { signature: `x${GENUINE}` }),
  aCase("malformed", "the signature of Standard Webhooks", { signature: `v1,${base64(HEX)}` }),
  aCase("malformed", "two signatures in one header", { signature: `${GENUINE}, ${GENUINE}` }),
  aCase("malformed", "a list of one signature", { signature: `${GENUINE},` }),
  only("malformed", "two headers with the same signature", [
    ["X-VC-Signature", GENUINE],
    ["X-VC-Signature", GENUINE],
  ]),
  only("malformed", "two headers, the first of them forged", [
    ["X-VC-Signature", `sha256=${"0".repeat(64)}`],
    ["X-VC-Signature", GENUINE],
  ]),
  only("malformed", "two headers, the second of them forged and in lower case", [
    ["X-VC-Signature", GENUINE],
    ["x-vc-signature", `sha256=${"0".repeat(64)}`],
  ]),
  only("valid", "headers with names in lower case", [["x-vc-signature", GENUINE]], "x-vc-timestamp"),
  only("valid", "headers with names in capitals", [["X-VC-SIGNATURE", GENUINE]], "X-VC-TIMESTAMP"),

  forged("the prefix alone", ""),
  forged("the prefix twice", GENUINE),
  forged("a signature in quotes", `"${HEX}"`),
  forged("a signature with a space before it", ` ${HEX}`),
  forged("a signature with a space after it", `${HEX} `),
  forged("a signature with a line break after it", `${HEX}\n`),
  forged("a signature with a zero byte after it", `${HEX}\0`),
  forged("a signature without its last digit", HEX.slice(0, -1)),
  forged("a signature cut in half", HEX.slice(0, 32)),
  forged("a signature with an extra digit", `${HEX}0`),
  forged("a signature with its first digit changed", `${HEX.startsWith("0") ? 1 : 0}${HEX.slice(1)}`),
  forged("a signature with its last digit changed", `${HEX.slice(0, -1)}${HEX.endsWith("0") ? 1 : 0}`),
  forged("a signature in capitals", HEX.toUpperCase()),
  forged("a signature in base64", base64(HEX)),
  forged("a signature of zeros", "0".repeat(64)),
  forged("a signature that is not hexadecimal", "g".repeat(64)),
  forged("a signature with letters beyond ASCII", "é".repeat(32)),
  forged("a signature in full-width digits", HEX.replace(/[0-9]/g, fullWidth)),
  forged("a signature of 16 KB", HEX.repeat(256)),

  forged("a signature of the body without the time", mac(SECRET, EVENT)),
  forged("a signature without the dot", mac(SECRET, String(NOW), EVENT)),
  forged("a signature with a colon for the dot", mac(SECRET, `${NOW}:`, EVENT)),
  forged("a signature with the time after the body", mac(SECRET, EVENT, `.${NOW}`)),
  forged("a signature of the time in seconds", mac(SECRET, "1767225600.", EVENT)),
  forged("a signature of the hash of the body", mac(SECRET, `${NOW}.`, sha256(EVENT))),
  forged("a hash without any secret", sha256(`${NOW}.${EVENT}`)),
  forged("a hash of secret and message", sha256(`${SECRET}${NOW}.${EVENT}`)),
  forged("a signature by SHA-1", by("sha1")),
  forged("a signature by SHA-512", by("sha512")),
  forged("a truncated signature by SHA-512", by("sha512").slice(0, 64)),
];

function forged(what: string, hex: string) {
  return aCase("forged", what, { signature: `sha256=${hex}` });
}

function only(
  verdict: "valid" | "malformed",
  what: string,
  signatures: [string, string][],
  timestampName = "X-VC-Timestamp",
) {
  return aCase(verdict, what, { headers: [...signatures, [timestampName, String(NOW)]] });
}

function by(algorithm: string): string {
  return createHmac(algorithm, SECRET).update(`${NOW}.${EVENT}`).digest("hex");
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function base64(hex: string): string {
  return Buffer.from(hex, "hex").toString("base64");
}

function fullWidth(digit: string): string {
  return String.fromCharCode(digit.charCodeAt(0) + 0xfee0);
}
