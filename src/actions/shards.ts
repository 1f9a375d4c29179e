import { parseAuthorization, shardOf } from "../domain/api-key.ts";
import { type Clock, systemClock } from "../domain/clock.ts";
import { Busy } from "../domain/errors.ts";
import type { Dependencies } from "./dependencies.ts";

/** A shard, with all that belongs to its organizations. */
export interface Shard {
  readonly name: string;
  /** Null until its database was reached for the first time. */
  deps: Dependencies | null;
  /** True while its database answers no probe. */
  isSilent?: boolean;
  /** Called with each error of work on one of several shards. */
  readonly noteFailure?: (error: unknown) => void;
}

/** The settings that hold for all shards. */
type Settings = Pick<
  Dependencies,
  "eventTypes" | "platformOrganization" | "retentionMs" | "ownProblems" | "rules"
>;

/** The shards of the service, the home shard first. */
export class Shards {
  readonly all: readonly [Shard, ...Shard[]];
  readonly settings: Settings;
  readonly clock: Clock;

  constructor(all: readonly [Shard, ...Shard[]], settings: Settings) {
    this.all = all;
    this.settings = settings;
    this.clock = clockOf(all);
  }

  get home(): Shard {
    return this.all[0];
  }

  get others(): Shard[] {
    return this.all.slice(1);
  }

  /** The service with one database. */
  static only(deps: Dependencies): Shards {
    return new Shards([{ name: deps.shard, deps }], deps);
  }

  /**
   * Returns the shard that a token names. The home shard answers for one that names none, with the same work and the same
   * error as for an unknown key.
   */
  ofToken(authorization: string | undefined): Dependencies {
    const token = parseAuthorization(authorization);
    const named = token && this.all.find(({ name }) => name === shardOf(token.keyId));
    return depsOf(named ?? this.all[0]);
  }
}

/** Returns a clock with the time of the first shard that works. */
export function clockOf(shards: readonly Shard[]): Clock {
  return () => (shards.find(({ deps }) => deps)?.deps?.clock ?? systemClock)();
}

/** Throws if the shard has been away since the start. */
export function depsOf({ deps }: Shard): Dependencies {
  if (deps === null) throw new Busy();
  return deps;
}

/** Adds the name of the shard, if there are several. */
export function named<View extends object>(
  { others }: Shards,
  { shard }: Pick<Dependencies, "shard">,
  view: View,
): View & { shard?: string } {
  return others.length === 0 ? view : { ...view, shard };
}
