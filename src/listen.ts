import { once } from "node:events";
import { join } from "node:path";
import type { ListenOptions } from "./commands/listen-options.ts";
import { painter } from "./commands/paint.ts";
import { systemClock } from "./domain/clock.ts";
import type { EventTypes } from "./domain/event-types.ts";
import { jsonReporter } from "./listen/json-reporter.ts";
import { Judge } from "./listen/judge.ts";
import { openCertificates } from "./listen/kept-certificates.ts";
import { textReporter } from "./listen/text-reporter.ts";
import { startReceiver } from "./receiver/receiver.ts";
import { cannotListen } from "./wiring/listener.ts";

interface Environment {
  dataDir: string;
  /** Null: what arrives is not compared with schemas. */
  eventTypes: EventTypes | null;
  isTerminal: boolean;
  stdout: (text: string) => void;
}

/** Receives deliveries, shows them and responds as the options say, until `stop`. */
export async function listen(
  options: ListenOptions,
  { dataDir, eventTypes, isTerminal, stdout }: Environment,
  stop: AbortSignal,
): Promise<void> {
  const report = options.json
    ? jsonReporter(stdout)
    : textReporter(stdout, painter({ isTerminal }), options);
  const folder = options.folder ?? join(dataDir, "listen");
  const certificates = await openCertificates(folder, systemClock()).catch((error: unknown) => {
    throw new Error(`the certificates' folder: ${(error as Error).message}`, { cause: error });
  });
  const judge = new Judge(options.secrets, options.behaviour, eventTypes);
  const receiver = await startReceiver(
    certificates,
    async (received) => {
      const arrival = await judge.judge(received, systemClock());
      report.arrived(arrival);
      const onGone = () => report.gone(arrival, systemClock().getTime() - arrival.at.getTime());
      return { ...arrival.reply, onGone };
    },
    { port: options.port, onNoRequest: (code) => report.noRequest(code) },
  ).catch((error: unknown) => {
    throw cannotListen("localhost", options.port, error);
  });
  report.opened({ url: receiver.url, caFile: certificates.caFile });

  if (!stop.aborted) await once(stop, "abort");
  await receiver.close();
}
