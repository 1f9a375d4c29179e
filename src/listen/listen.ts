import { once } from "node:events";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { painter } from "../commands/output.ts";
import { cannotListen } from "../http/listener.ts";
import { systemClock } from "../lib/clock.ts";
import { becomeFolderOwner } from "../lib/owner.ts";
import type { EventTypes } from "../subjects/event-types/rules.ts";
import type { Arrival } from "./arrival.ts";
import { openCertificates, trustCommand } from "./certificates.ts";
import type { ListenOptions } from "./command.ts";
import { isInForeground } from "./foreground.ts";
import { Judge, learnSecrets } from "./judge.ts";
import { startReceiver } from "./receiver.ts";
import { createForward, type Forward, openRecording, replay } from "./replay.ts";
import { jsonReporter, type Reporter, textReporter } from "./reporters.ts";

interface Environment {
  dataDir: string;
  /** Null: what arrives is not compared with schemas. */
  eventTypes: EventTypes | null;
  isTerminal: boolean;
  stdout: (text: string) => void;
  /** Signing secrets, one a line. */
  stdin: Readable & { isTTY?: boolean };
  /** Says that root became another user. */
  remark: (message: string) => void;
}

/**
 * Receives deliveries, shows them and responds as the options say, until `stop`. Or replays a recording. If a folder in use belongs
 * to another user, root becomes that user.
 */
export async function listen(
  options: ListenOptions,
  environment: Environment,
  stop: AbortSignal,
): Promise<void> {
  const { isTerminal, stdout, remark } = environment;
  const report = options.json
    ? jsonReporter(stdout)
    : textReporter(stdout, painter({ isTerminal }), options);
  const { forwardTo, secrets } = options;
  const forward = forwardTo && createForward(forwardTo, stop);
  if (options.replay === null || forward === null) {
    await receive(options, { ...environment, report, forward }, stop);
    return;
  }
  await becomeFolderOwner(dirname(options.replay), remark);
  const sending = { forward, secret: secrets[0], clock: systemClock, stop };
  await replay(options.replay, sending, report);
}

async function receive(
  options: ListenOptions,
  environment: Environment & { report: Reporter; forward: Forward | null },
  stop: AbortSignal,
): Promise<void> {
  const { dataDir, eventTypes, stdin, remark, report, forward } = environment;
  const folder = options.folder ?? join(dataDir, "listen");
  await becomeFolderOwner(folder, remark);
  if (options.record !== null) await becomeFolderOwner(dirname(options.record), remark);
  const certificates = await openCertificates(folder, systemClock()).catch((error: unknown) => {
    throw new Error(`the certificates' folder: ${(error as Error).message}`, { cause: error });
  });
  const judge = new Judge(options.secrets, options.behaviour, eventTypes);
  const recording = options.record === null ? null : openRecording(options.record);
  const hasStopped = () => stop.aborted;
  const receiver = await startReceiver(
    certificates,
    async (received) => {
      const judged = await judge.judge(received, systemClock());
      if (hasStopped()) return DROPPED;
      const cause = recording?.add(judged) ?? null;
      if (cause !== null) report.recordingEnded(cause);
      const arrival = await forwarded(judged, options.forwardTo, forward);
      if (hasStopped()) return DROPPED;
      report.arrived(arrival);
      const onGone = () => report.gone(arrival, systemClock().getTime() - arrival.at.getTime());
      return { ...arrival.reply, onGone };
    },
    { port: options.port, onNoRequest: (code) => report.noRequest(code) },
  ).catch((error: unknown) => {
    throw cannotListen("localhost", options.port, error);
  });
  const { caFile } = certificates;
  const command = trustCommand(process.platform, caFile);
  report.opened({ url: receiver.url, caFile, trustCommand: command });
  const canRead = !stdin.isTTY || (await isInForeground());
  const stopLearning = !canRead
    ? null
    : learnSecrets(stdin, (secret) => {
        report.learned(secret === null ? null : judge.learn(secret));
      });

  if (!stop.aborted) await once(stop, "abort");
  stopLearning?.();
  await receiver.close();
  recording?.close();
}

/** Forwards an arrival whose reply would be a success. The program's status takes the place of the reply's. */
async function forwarded(
  arrival: Arrival,
  target: URL | null,
  forward: Forward | null,
): Promise<Arrival> {
  const { status, delayMs } = arrival.reply;
  if (!target || !forward || status === null || status > 299) return arrival;
  const answer = await forward(arrival);
  const isAnswer = typeof answer === "number";
  return {
    ...arrival,
    forwardedTo: target.href,
    forwardError: isAnswer ? null : answer,
    reply: { status: isAnswer ? answer : BAD_GATEWAY, delayMs },
  };
}

const BAD_GATEWAY = 502;

/** For a delivery that `stop` interrupts: the sender repeats it. */
const DROPPED = { status: null, delayMs: 0 };
