import type { ListenOptions } from "../commands/listen-options.ts";
import type { Paint } from "../commands/paint.ts";
import { printable } from "../commands/printable.ts";
import { ACCEPTED, replyTo } from "../receiver/behaviour.ts";
import { arrivalText, replyText } from "./arrival-text.ts";
import type { Reporter } from "./reporter.ts";

/** Writes text for people. */
export function textReporter(
  write: (text: string) => void,
  paint: Paint,
  { secrets, behaviour }: Pick<ListenOptions, "secrets" | "behaviour">,
): Reporter {
  const remark = (text: string) => write(`\n${paint("yellow", `! ${text}`)}\n`);

  return {
    opened({ url, caFile }) {
      const fact = (name: string, value: string) => `  ${paint("dim", name.padEnd(11))}${value}\n`;
      write(
        `\n${paint("bold", "Receiving deliveries")}, until Ctrl-C\n\n` +
          fact("URL", paint("bold", url)) +
          fact("Verifies", verifies()) +
          fact("Answers", answers()) +
          `\nTo deliver here, start a service on this machine with\n\n` +
          `  EGRESS_ALLOW=127.0.0.1/32,::1/128 \\\n  EGRESS_CA_FILE=${quoted(caFile)}\n`,
      );
    },
    arrived: (arrival) => write(arrivalText(arrival, paint)),
    gone: ({ eventId, attempt }, waitedMs) =>
      remark(
        `the sender closed the connection after ${(waitedMs / 1000).toFixed(1)} s: ` +
          `attempt ${attempt} of ${printable(eventId ?? "no event")}`,
      ),
    noRequest: (code) => remark(explain(code)),
  };

  function verifies(): string {
    if (secrets.length === 0) return paint("yellow", "nothing; add --secret whsec_…");
    return `with ${secrets.length === 1 ? "one secret" : `any of ${secrets.length} secrets`}`;
  }

  function answers(): string {
    const { attempts } = behaviour;
    const first = replyText(replyTo(1, behaviour), paint);
    if (attempts === Infinity) return `every attempt: ${first}`;
    const which = attempts === 1 ? "first attempt" : `first ${attempts} attempts`;
    return `${which} of each event: ${first}; then ${replyText(ACCEPTED, paint)}`;
  }
}

function explain(code: string | null): string {
  if (code === "ERR_SSL_HTTP_REQUEST")
    return "received a request over plain HTTP: use the https URL";
  const how = code === null ? "" : ` (${code})`;
  return `a connection sent no request${how}: does the sender's EGRESS_CA_FILE name the file above?`;
}

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
