import { setTimeout as sleep } from "node:timers/promises";
import type { SourceConfiguration } from "./configuration.ts";
import { Unfit } from "./document.ts";
import { toEvent } from "./event.ts";
import type { Publisher } from "./publisher.ts";
import { type BridgeLog, type Message, type Source, SourceFault } from "./source.ts";

interface Checking {
  sources: readonly SourceConfiguration[];
  publisher: Publisher;
  log: BridgeLog;
  now: () => Date;
  write: (line: string) => void;
}

/**
 * Tells of the service and of each source whether it is reached, and shows the first message as the event that it would become.
 * Publishes and acknowledges nothing. Returns false if something fails.
 */
export async function checkBridge({
  sources,
  publisher,
  log,
  now,
  write,
}: Checking): Promise<boolean> {
  const why = await publisher.reach();
  write(why === null ? "ok    service: it answers" : `FAILS service: ${why}`);
  let isSound = why === null;
  for (const configured of sources) {
    const { name, mapping, defaults } = configured;
    const stop = new AbortController();
    const source = configured.open({ stop: stop.signal, log, now, forget: () => undefined });
    try {
      const { facts, first } = await checkStarted(source);
      for (const fact of facts) write(`ok    ${name}: ${fact}`);
      write(first === null ? `ok    ${name}: no message waits` : show(name, first));
    } catch (error) {
      isSound = false;
      const { message } = error as Error;
      write(`FAILS ${name}: ${error instanceof SourceFault ? message : `not reached: ${message}`}`);
    } finally {
      stop.abort();
      await source.close().catch(() => undefined);
    }

    function show(source: string, message: Message): string {
      try {
        const { json } = toEvent(message, { source, mapping, defaults });
        return `ok    ${source}: the first message becomes ${json}`;
      } catch (error) {
        if (!(error instanceof Unfit)) throw error;
        return `note  ${source}: the first message would be set aside: ${error.message}`;
      }
    }
  }
  return isSound;
}

/** A server that is starting gets so long. */
const START = { withinMs: 20_000, pauseMs: 500 };

/** Repeats the check of a source while its server says that it is starting. */
async function checkStarted(source: Source): ReturnType<Source["check"]> {
  const untilMs = performance.now() + START.withinMs;
  for (;;) {
    try {
      return await source.check();
    } catch (error) {
      if (!source.isStarting?.(error) || performance.now() > untilMs) throw error;
    }
    await source.close().catch(() => undefined);
    await sleep(START.pauseMs);
  }
}
