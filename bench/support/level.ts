import { setTimeout as sleep } from "node:timers/promises";
import { fillQueue } from "./queue.ts";
import type { Rig, Stage } from "./rig.ts";
import type { Service } from "./service.ts";

const REFILL = 500;
const PAUSE_MS = 20;

/** A service with a queue of constant length: delivered events are replaced. Runs only in its turns. */
export class Level {
  readonly service: Service;
  readonly #rig: Rig;
  readonly #stage: Stage;
  #delivered = 0;
  #tookMs = 0;

  private constructor(rig: Rig, stage: Stage, service: Service) {
    this.#rig = rig;
    this.#stage = stage;
    this.service = service;
    service.pause();
  }

  static async open(rig: Rig, waiting: number): Promise<Level> {
    const stage = await rig.stage(rig.receivers.urls(100));
    await fillQueue(stage.db, stage.subscriptions, waiting);
    return new Level(rig, stage, await rig.service(stage, { ROLE: "dispatcher" }));
  }

  /** Deliveries a second over all turns since the last reset. */
  get rate(): number {
    return (this.#delivered * 1000) / this.#tookMs;
  }

  reset(): void {
    this.#delivered = 0;
    this.#tookMs = 0;
  }

  async turn(ms: number): Promise<void> {
    const { process: receiver } = this.#rig.receivers;
    const { requests: before } = await receiver.ask("count");
    const began = performance.now();
    this.service.resume();

    let filled = 0;
    while (performance.now() < began + ms) {
      const missing = (await receiver.ask("count")).requests - before - filled;
      if (missing < REFILL) {
        await sleep(PAUSE_MS);
      } else {
        filled += missing;
        await fillQueue(this.#stage.db, this.#stage.subscriptions, missing);
      }
    }

    this.service.pause();
    this.#tookMs += performance.now() - began;
    this.#delivered += (await receiver.ask("count")).requests - before;
  }
}
