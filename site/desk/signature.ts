import { verifySignature } from "../../src/webhook/verify.ts";

/** The result of a check, and the likely mistake. */
export interface Diagnosis {
  verdict: "valid" | "malformed" | "stale" | "forged";
  /** The likely mistake in a few words. Empty if the delivery is valid. */
  title: string;
  advice: string;
}

const WINDOW_MINUTES = 5;

/** Explains what a receiver with this secret would say of a pasted delivery. Nothing leaves the browser. */
export async function diagnose(
  pasted: { headers: string; body: string; secret: string },
  now: number,
): Promise<Diagnosis> {
  const headers = readHeaders(pasted.headers);
  const signature = headers["x-vc-signature"];
  const timestamp = headers["x-vc-timestamp"];
  const secret = pasted.secret.trim();
  if (signature === undefined || timestamp === undefined) return lacking(headers);
  if (secret === "")
    return malformed("No secret", "Paste the secret of the subscription, whsec_….");

  const check = async (change: Partial<Parts> = {}) =>
    verifiesAt({ secret, signature, timestamp, body: pasted.body, now, ...change });

  const verdict = await check();
  if (verdict === "valid")
    return { verdict, title: "", advice: "The delivery is genuine, unchanged and recent." };
  const ms = Number(timestamp);
  const atSending = { now: ms };

  if (/^[0-9]{10}$/.test(timestamp)) {
    return malformed(
      "Timestamp in seconds",
      "X-VC-Timestamp is in milliseconds and has 13 digits. Sign and compare it as it arrives.",
    );
  }
  if (!/^sha256=[0-9a-f]{64}$/.test(signature)) {
    return malformed(
      "Not our signature",
      "X-VC-Signature is sha256= and 64 hexadecimal digits in lower case. Copy the whole header.",
    );
  }
  if ((await check(atSending)) === "valid") return clockOff(now - ms);

  for (const [secretOf, title, advice] of SECRETS) {
    const other = secretOf(pasted.secret);
    if (other !== secret && (await check({ ...atSending, secret: other })) === "valid") {
      return { verdict, title, advice };
    }
  }
  for (const body of otherForms(pasted.body)) {
    if ((await check({ ...atSending, body })) === "valid") {
      return {
        verdict: "forged",
        title: "Body changed by a parser",
        advice:
          "The JSON is the same, and its bytes are not. A framework parsed the body and wrote it again. Verify the raw bytes " +
          "before any JSON middleware.",
      };
    }
  }
  return {
    verdict,
    title: "Wrong secret, or another body",
    advice:
      "Neither this secret nor a rewritten form of this body gives the signature. Compare the id of the subscription in the " +
      "body with the subscription that the secret belongs to. During a rotation, accept both secrets. A parser that sorted the " +
      "members of the data, or wrote its numbers in another way (10.0 as 10), leaves nothing to compare.",
  };
}

interface Parts {
  secret: string;
  signature: string;
  timestamp: string;
  body: string;
  now: number;
}

async function verifiesAt({ secret, signature, timestamp, body, now }: Parts) {
  const headers = { "x-vc-signature": signature, "x-vc-timestamp": timestamp };
  try {
    return await verifySignature({ secret, headers, body, now });
  } catch {
    return "forged"; // It throws for mistakes of a program, such as a secret in quotes. Here a person pastes.
  }
}

/** Other spellings of a secret, each with the mistake that it stands for. */
const SECRETS: [(secret: string) => string, string, string][] = [
  [
    (secret) => `whsec_${secret.trim()}`,
    "Secret without its prefix",
    "The key is the whole secret as issued, whsec_ included.",
  ],
  [
    (secret) => secret.trim().replace(/^["'`]+|["'`]+$/g, ""),
    "Secret in quotes",
    "Quotes around the secret are not part of it. Remove them where your program reads it.",
  ],
];

/** The forms that parsers and editors make of a body. */
function otherForms(body: string): string[] {
  const trimmed = body.trim();
  const forms = [trimmed, body.replace(/\r\n/g, "\n"), `${trimmed}\n`];
  try {
    const parsed: unknown = JSON.parse(trimmed);
    forms.push(JSON.stringify(parsed), JSON.stringify(inOurOrder(parsed)));
  } catch {
    // It is not JSON, so no parser wrote it.
  }
  return [...new Set(forms)].filter((form) => form !== body);
}

/** Some libraries sort the members of what they write. */
function inOurOrder(parsed: unknown): unknown {
  const order = ["event", "id", "subscription_id", "occurred_at", "data"];
  const members = Object.entries(parsed ?? {}).map(([name, value]): [number, string, unknown] => [
    order.indexOf(name),
    name,
    value,
  ]);
  return Object.fromEntries(
    members.sort(([a], [b]) => a - b).map(([, name, value]) => [name, value]),
  );
}

function lacking(headers: Record<string, string>): Diagnosis {
  if ("webhook-signature" in headers || "svix-signature" in headers) {
    return malformed(
      "Headers of another scheme",
      "These are headers of Standard Webhooks. This service signs with X-VC-Signature and X-VC-Timestamp alone.",
    );
  }
  const missing = ["X-VC-Signature", "X-VC-Timestamp"].filter(
    (name) => !(name.toLowerCase() in headers),
  );
  return malformed(
    `${missing.join(" and ")} missing`,
    "Paste the headers of the request, one in a line. A proxy in front of the receiver may remove headers that it does not know.",
  );
}

function clockOff(offMs: number): Diagnosis {
  const minutes = Math.round(Math.abs(offMs) / 60_000);
  const direction = offMs > 0 ? "older" : "newer";
  return {
    verdict: "stale",
    title: `Clock off by ${minutes} min, or an old delivery`,
    advice:
      `The signature is genuine. Its timestamp is ${minutes} minutes ${direction} than your clock, and ${WINDOW_MINUTES} are allowed. ` +
      "If the delivery arrived just now, set the receiver's clock by NTP.",
  };
}

function malformed(title: string, advice: string): Diagnosis {
  return { verdict: "malformed", title, advice };
}

/** Reads lines of `Name: value`, as curl, proxies and browsers show them. Names are returned in lower case. */
export function readHeaders(text: string): Record<string, string> {
  const lines = text
    .split(/\r?\n/)
    .map((line) => /^[<>*\s-]*([A-Za-z0-9-]+)"?\s*[:=]\s*"?(.*?)"?,?\s*$/.exec(line));
  return Object.fromEntries(
    lines.flatMap((found) => (found ? [[(found[1] ?? "").toLowerCase(), found[2] ?? ""]] : [])),
  );
}

/** Signs as the service does. Returns the headers of a delivery. */
export async function sign({
  secret,
  eventId,
  timestampMs,
  body,
}: {
  secret: string;
  eventId: string;
  timestampMs: number;
  body: string;
}): Promise<Record<string, string>> {
  const seconds = Math.floor(timestampMs / 1_000);
  const ours = await macOf(new TextEncoder().encode(secret), `${timestampMs}.${body}`);
  const standardKey = Uint8Array.from(atob(secret.slice("whsec_".length)), codeOf);
  const standard = await macOf(standardKey, `${eventId}.${seconds}.${body}`);
  return {
    "X-VC-Signature": `sha256=${ours.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`,
    "X-VC-Timestamp": String(timestampMs),
    "webhook-id": eventId,
    "webhook-timestamp": String(seconds),
    "webhook-signature": `v1,${btoa(String.fromCharCode(...standard))}`,
  };
}

const codeOf = (character: string) => character.charCodeAt(0);

async function macOf(secret: Uint8Array<ArrayBuffer>, text: string): Promise<number[]> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", secret, algorithm, false, ["sign"]);
  return [...new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text)))];
}
