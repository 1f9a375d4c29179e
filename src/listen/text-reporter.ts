import type { ListenOptions } from "../commands/listen-options.ts";
import type { Paint } from "../commands/paint.ts";
import { printable } from "../commands/printable.ts";
import { ACCEPTED, replyTo } from "../receiver/behaviour.ts";
import { arrivalText, replyText } from "./arrival-text.ts";
import { FULL } from "./recording.ts";
import type { Reporter } from "./reporter.ts";
import { quoted } from "./trust-command.ts";

/** Writes text for people. */
export function textReporter(
  write: (text: string) => void,
  paint: Paint,
  { secrets, behaviour, forwardTo }: Pick<ListenOptions, "secrets" | "behaviour" | "forwardTo">,
): Reporter {
  const remark = (text: string) => write(`\n${paint("yellow", `! ${text}`)}\n`);

  return {
    opened({ url, caFile, trustCommand }) {
      const fact = (name: string, value: string) => `  ${paint("dim", name.padEnd(11))}${value}\n`;
      write(
        `\n${paint("bold", "Receiving deliveries")}, until Ctrl-C\n\n` +
          fact("URL", paint("bold", url)) +
          fact("Verifies", verifies()) +
          fact("Answers", answers()) +
          `\nTo deliver here, start a service on this machine with\n\n` +
          `  EGRESS_ALLOW=127.0.0.1/32,::1/128 \\\n  EGRESS_CA_FILE=${quoted(caFile)}\n` +
          `\nTo let browsers and curl accept the certificate, run once\n\n  ${trustCommand}\n`,
      );
    },
    arrived: (arrival) => write(arrivalText(arrival, paint)),
    gone: ({ eventId, attempt }, waitedMs) =>
      remark(
        `the sender closed the connection after ${(waitedMs / 1000).toFixed(1)} s: ` +
          `attempt ${attempt} of ${printable(eventId ?? "no event")}`,
      ),
    noRequest: (code) => remark(explain(code)),
    learned: (count) =>
      remark(
        count === null
          ? "not a signing secret: a secret starts with whsec_"
          : `verifying with ${countOf(count)} now`,
      ),
    recordingEnded: (cause) => {
      const why = cause === FULL ? "is full" : `cannot be written (${printable(cause)})`;
      remark(`the recording ${why}: nothing more is recorded`);
    },
    brokenLine: (line) => remark(`line ${line} of the recording is broken: skipped`),
    replayed({ eventType, eventId, answer }) {
      const isAccepted = typeof answer === "number" && answer >= 200 && answer < 300;
      const what = [eventType ?? "no event", eventId ?? ""].map(printable).join("  ");
      write(`${paint(isAccepted ? "green" : "red", String(answer))}  ${what}\n`);
    },
  };

  function verifies(): string {
    if (secrets.length === 0)
      return paint("yellow", "nothing yet: paste the signing secret (whsec_…) here");
    return `with ${countOf(secrets.length)}`;
  }

  function answers(): string {
    const { attempts } = behaviour;
    const first = replyText(replyTo(1, behaviour), paint);
    const accepted =
      forwardTo === null ? replyText(ACCEPTED, paint) : `what ${forwardTo.href} answers`;
    if (attempts === Infinity) {
      return `every attempt: ${forwardTo === null ? first : accepted}`;
    }
    const which = attempts === 1 ? "first attempt" : `first ${attempts} attempts`;
    return `${which} of each event: ${first}; then ${accepted}`;
  }
}

function explain(code: string | null): string {
  if (code === "ERR_SSL_HTTP_REQUEST")
    return "received a request over plain HTTP: use the https URL";
  const how = code === null ? "" : ` (${code})`;
  return `a connection sent no request${how}: does the sender's EGRESS_CA_FILE name the file above?`;
}

function countOf(secrets: number): string {
  return secrets === 1 ? "one secret" : `any of ${secrets} secrets`;
}
