import type { Shards } from "../actions/shards.ts";
import type { Clock } from "../domain/clock.ts";
import type { LibraryLanguage } from "../domain/event-types.ts";
import type { BridgeOptions } from "./bridge.ts";
import type { ListenOptions } from "./listen-options.ts";
import type { OperatorApi } from "./operator-api.ts";

/** The result of the move of a shard. */
export interface Moved {
  shard: string;
  /** Where the shard is now, without credentials. */
  to: string;
  tables: number;
  rows: number;
  /** How long writers waited before the old place was left. */
  waited_ms: number;
}

/** Everything that a command uses besides its arguments. Created once, in cli.ts or in a test. */
export interface CommandContext {
  /**
   * Opens the database of each shard, updates its schema, calls `run` and closes the databases in any case. Reads the platform's
   * event types only with `readsEventTypes`, so that a command that does not need them works despite a faulty folder.
   */
  withShards<T>(
    run: (shards: Shards) => Promise<T>,
    options?: { readsEventTypes?: boolean },
  ): Promise<T>;
  /**
   * Calls `run` with the operator API: of a running service if one is configured, otherwise in this process on the database.
   */
  withOperatorApi<T>(
    run: (api: OperatorApi) => Promise<T>,
    options?: { readsEventTypes?: boolean },
  ): Promise<T>;
  /** For results only, because the output may be piped into another program. */
  stdout: (text: string) => void;
  /** For errors and remarks to the person at the terminal. */
  stderr: (text: string) => void;
  isTerminal: boolean;
  /** The time that `--since 1h` counts back from. Default: now. */
  clock?: Clock;
  /** Waits between two overviews of `--watch`. Default: a timer. */
  pause?: (ms: number) => Promise<unknown>;
  /** True to show the stack of an unexpected error. */
  showStack?: boolean;
  /** The output of `--version`. */
  version?: string;

  serve(): Promise<void>;
  migrate(): Promise<void>;
  /** Moves a shard to an empty schema of another server, while the service runs. */
  moveShard(name: string, to: string): Promise<Moved>;
  /** Returns false if a check fails. Prints the reasons itself. */
  doctor(): Promise<boolean>;
  /** Throws one error that names every fault of the folder and, compared with `older`, every change that breaks receivers. */
  checkEventTypes(folder: string | null, older: string | null): Promise<{ types: number }>;
  /** Returns the source of a library that publishes the types of EVENT_TYPES. Throws one error that names every fault of the folder. */
  generateLibrary(language: LibraryLanguage): Promise<string>;
  demo(): Promise<void>;
  /** Publishes from the configured sources until it is stopped. Returns false if a check or the stop fails. */
  bridge(options: BridgeOptions): Promise<boolean>;
  /** Receives deliveries until it is stopped. */
  listen(options: ListenOptions): Promise<void>;
}
