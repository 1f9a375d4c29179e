import type { Clock } from "../domain/clock.ts";
import { signatureHeaders } from "../webhook/sign.ts";
import { type Forward, type Forwarded, withoutHeaders } from "./forward.ts";
import { envelopeIds } from "./judge.ts";
import { readRecording } from "./recording.ts";

/** A delivery that was sent again. */
export interface Replayed {
  eventType: string | null;
  eventId: string | null;
  /** The status of the answer, or the code of an error. */
  answer: number | string;
}

/**
 * Sends the deliveries of a recording again, one after the other. With a secret they are signed anew, because receivers refuse old
 * timestamps. Reports and skips broken lines. Throws if any delivery is not accepted, or if `stop` comes before the end.
 */
export async function replay(
  file: string,
  options: { forward: Forward; secret: string | undefined; clock: Clock; stop: AbortSignal },
  report: { replayed(one: Replayed): void; brokenLine(line: number): void },
): Promise<void> {
  const { forward, secret, clock, stop } = options;
  const { deliveries, brokenLines } = await readRecording(file);
  for (const line of brokenLines) report.brokenLine(line);
  let refused = 0;
  for (const [answered, one] of deliveries.entries()) {
    const sent = secret === undefined ? one : signedAnew(one, secret, clock().getTime());
    const answer = await forward(sent);
    if (stop.aborted) {
      throw new Error(`stopped: ${answered} of ${deliveries.length} deliveries were answered`);
    }
    if (typeof answer === "string" || answer < 200 || answer > 299) refused++;
    const { event: eventType, id: eventId } = envelopeIds(one.body);
    report.replayed({ eventType, eventId, answer });
  }
  if (refused > 0) {
    throw new Error(`${refused} of ${deliveries.length} deliveries were not accepted`);
  }
}

function signedAnew(recorded: Forwarded, signingSecret: string, timestampMs: number): Forwarded {
  const { rawHeaders, body } = recorded;
  const eventId = envelopeIds(body).id ?? "";
  const signed = signatureHeaders({ signingSecret, eventId, timestampMs, body });
  const names = new Set(Object.keys(signed).map((name) => name.toLowerCase()));
  const kept = withoutHeaders(rawHeaders, names);
  return { ...recorded, rawHeaders: [...kept, ...Object.entries(signed).flat()] };
}
