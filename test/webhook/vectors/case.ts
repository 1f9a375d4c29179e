import { createHmac } from "node:crypto";
import type { Verdict } from "../../../src/webhook/verify.ts";

/** One entry of `vectors/signature.json`. */
export interface Case {
  name: string;
  secrets: string[];
  /** Names and values as received, neither trimmed nor joined. */
  headers: [name: string, value: string][];
  /** Base64, to be repeated `repeat` times. */
  body: string;
  repeat: number;
  /** The receiver's clock, in milliseconds since the Unix epoch. */
  now: number;
  verdict: Verdict;
  /** True if the body is an event. Libraries that read the body call any other body malformed. */
  event: boolean;
}

export const SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g";
export const OTHER_SECRET = "whsec_/+7dzLuqmYh3ZlVEMyIRAP/u3cy7qpmId2ZVRDMiEQD/";
export const NOW = 1_767_225_600_123;
export const EVENT =
  '{"event":"vc.test.ping","id":"evt_01990000-0000-7000-8000-000000000000"' +
  ',"subscription_id":"wh_01990000-0000-7000-8000-000000000001"' +
  ',"occurred_at":"2026-01-01T00:00:00.000Z","data":{"message":"integration test"}}';

/** The event with other `data`. */
export function anEventWith(data: string): string {
  return EVENT.replace('{"message":"integration test"}', data);
}

interface Change {
  secrets?: string[];
  signature?: string;
  timestamp?: string;
  headers?: [string, string][];
  body?: string | Uint8Array;
  repeat?: number;
  now?: number;
  event?: boolean;
}

/** A genuine delivery with a change. Unless the change sets the signature, it matches the rest. */
export function aCase(verdict: Verdict, name: string, change: Change = {}): Case {
  const { secrets = [SECRET], repeat = 1, now = NOW, event = change.body === undefined } = change;
  const { timestamp = String(NOW) } = change;
  const body = Buffer.from(change.body ?? EVENT);
  const whole = Buffer.concat(Array<Buffer>(repeat).fill(body));
  const { signature = `sha256=${mac(SECRET, `${timestamp}.`, whole)}` } = change;
  const headers: [string, string][] = change.headers ?? [
    ["X-VC-Signature", signature],
    ["X-VC-Timestamp", timestamp],
  ];
  return { name, secrets, headers, body: body.toString("base64"), repeat, now, verdict, event };
}

/** Does not use the service's signing code, so that the vectors can reveal its faults. */
export function mac(key: string | Uint8Array, ...message: (string | Uint8Array)[]): string {
  const hmac = createHmac("sha256", key);
  for (const part of message) hmac.update(part);
  return hmac.digest("hex");
}
