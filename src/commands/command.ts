import type { Clock } from "../lib/clock.ts";
import type { Dependencies } from "../subjects/dependencies.ts";
import type { LibraryLanguage } from "../subjects/event-types/rules.ts";
import type { OperatorApi } from "./operator-api.ts";

/** What a command of the operators uses besides its arguments. */
export interface CommandContext {
  /**
   * Opens the database, updates its schema, calls `run` and closes the database in any case. Reads the platform's event types only with `readsEventTypes`, so that a command that does not need them works despite a faulty folder.
   */
  withDatabase<T>(
    run: (deps: Dependencies) => Promise<T>,
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

  /** Throws one error that names every fault of the folder and, compared with `older`, every change that breaks receivers. */
  checkEventTypes(folder: string | null, older: string | null): Promise<{ types: number }>;
  /** Returns the source of a library that publishes the types of EVENT_TYPES. Throws one error that names every fault of the folder. */
  generateLibrary(language: LibraryLanguage): Promise<string>;
}
