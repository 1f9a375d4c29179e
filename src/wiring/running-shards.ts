import type { Logger } from "pino";
import type { Dependencies } from "../actions/dependencies.ts";
import type { Shard } from "../actions/shards.ts";
import { type Config, eachShard } from "../config.ts";
import { isUnavailable } from "../postgres/database.ts";
import { Opened } from "./opened.ts";
import { repeat } from "./repeat.ts";
import { hasRing } from "./sealing-keys.ts";
import { type OpenShard, openShard, type SharedParts } from "./shard.ts";
import type { ShardHealth } from "./shard-health.ts";
import type { WatchedShard } from "./shard-metrics.ts";

/** How often a shard is tried again that was away at the start. */
const AGAIN_MS = 2_000;
/** How often a stop checks for shards that are away. */
const GIVE_UP_MS = 1_000;

type Parts = SharedParts & { watched: WatchedShard[] };

interface Place extends Shard {
  config: Config;
  log: Logger;
  health: ShardHealth;
  running: OpenShard | null;
  opened: Opened;
}

/** The shards of this process. One that is away holds up neither the start nor the stop of the others. */
export class RunningShards {
  readonly all: readonly [Place, ...Place[]];
  #isDispatching = false;
  #isStopping = false;
  #givingUp: NodeJS.Timeout | undefined;

  constructor(config: Config, log: Logger, healths: readonly ShardHealth[]) {
    const isOnly = config.shards.length === 1;
    const placeOf = (one: Config): Place => {
      const health = healths.find(({ name }) => name === one.shard);
      if (!health) throw new Error(`a defect: nothing checks the health of shard ${one.shard}`);
      const own = isOnly ? log : log.child({ shard: one.shard });
      const place: Place = {
        ...{ name: one.shard, config: one, log: own, health },
        ...{ deps: null, running: null, opened: new Opened() },
        noteFailure: (error) => {
          if (isUnavailable(error)) place.running?.outage.note(error);
        },
      };
      return place;
    };
    const [home, ...others] = eachShard(config);
    this.all = [placeOf(home), ...others.map(placeOf)];
  }

  get #running(): OpenShard[] {
    return this.all.flatMap(({ running }) => running ?? []);
  }

  /** Opens all shards. Those that are away are tried again later, if any works and no key ring has to be made. */
  async open(parts: Parts): Promise<void> {
    const [{ config }] = this.all;
    const mayWait = this.all.length > 1 && (await hasRing(config));
    let lastError: unknown;
    const open = async (place: Place) => {
      try {
        await this.#open(place, parts);
      } catch (error) {
        if (!mayWait || !isAway(error)) throw error;
        lastError = error;
        place.log.error(
          { err: error },
          "the shard is unavailable: requests of its organizations get 503",
        );
      }
    };
    if (mayWait) {
      const results = await Promise.allSettled(this.all.map(open));
      const failed = results.find((result) => result.status === "rejected");
      if (failed) throw failed.reason;
    } else {
      for (const place of this.all) await open(place); // The home shard's turn makes the key ring.
    }
    if (this.#running.length === 0) throw lastError;
    if (this.#running.length === this.all.length) return;
    for (const place of this.all) if (!place.running) this.#openLater(place, parts);
  }

  #openLater(place: Place, parts: Parts): void {
    const stop = repeat(
      AGAIN_MS,
      async () => {
        if (this.#isStopping) return;
        await this.#open(place, parts);
        void stop();
        place.log.info("the shard is available");
      },
      (err) => {
        if (this.#isStopping || isAway(err)) return;
        place.log.error(
          { err },
          "the shard answers, but cannot be opened: repair the cause. It is tried again every 2 s",
        );
      },
    );
    place.opened.add(() => void stop()); // Not awaited: what opens meanwhile sees the stop, and closes again.
  }

  async #open(place: Place, parts: Parts): Promise<void> {
    const { config, health, log } = place;
    const opened = new Opened();
    try {
      const running = await openShard(config, parts, { log, health, opened });
      if (this.#isStopping) throw new Error("the process stops");
      const labels = this.all.length === 1 ? {} : { shard: place.name };
      const { clock, activity, deps } = running;
      parts.watched.push({ labels, db: deps.db, clock, activity });
      Object.assign(place, { running, opened, deps });
      if (this.#isDispatching) running.dispatcher?.start();
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  /** Notes that a request was refused. `deps` are those of its shard, if it belongs to one. */
  noteOutage(error: unknown, deps: Dependencies | null): void {
    const [only] = this.all;
    const place = this.all.length === 1 ? only : this.all.find((one) => one.deps === deps);
    if (place?.running) place.running.outage.note(error);
  }

  startDispatching(): void {
    this.#isDispatching = true;
    for (const { dispatcher } of this.#running) dispatcher?.start();
  }

  async stopDispatching(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#running.flatMap(({ dispatcher }) => dispatcher?.stop() ?? []));
  }

  /** From now on, reports that this process stops. After half of the grace, gives up shards that are away. */
  noteStopping(): void {
    for (const { reporting } of this.#running) reporting.noteStopping();
    if (this.all.length === 1) return;
    const [{ config }] = this.all;
    this.#givingUp = setTimeout(() => {
      this.#givingUp = setInterval(() => {
        for (const { giveUpIfAway } of this.#running) void giveUpIfAway();
      }, GIVE_UP_MS);
    }, config.shutdownGraceMs / 2);
  }

  async close(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.all.map(({ opened }) => opened.close()));
    clearTimeout(this.#givingUp);
  }
}

function isAway(error: unknown): boolean {
  return isUnavailable(error) || isUnavailable((error as Error).cause);
}
