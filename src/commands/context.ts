import type { Dependencies } from "../actions/dependencies.ts";
import type { Clock } from "../domain/clock.ts";
import type { ListenOptions } from "./listen-options.ts";
import type { OperatorApi } from "./operator-api.ts";

/** Everything that a command uses besides its arguments. Created once, in cli.ts or in a test. */
export interface CommandContext {
  /**
   * Opens the database, updates its schema, calls `run` and closes the database in any case. Only with `readsEventTypes`
   * are the platform's event types known: a command that works without them must work with a folder that is at fault.
   */
  withDependencies<T>(
    run: (deps: Dependencies) => Promise<T>,
    options?: { readsEventTypes?: boolean },
  ): Promise<T>;
  /** The operator API: of a running service if one is configured, otherwise in this process on the database. */
  withOperatorApi<T>(
    run: (api: OperatorApi) => Promise<T>,
    options?: { readsEventTypes?: boolean },
  ): Promise<T>;
  /** For results only, because the output may be piped into another program. */
  stdout: (text: string) => void;
  /** For errors and remarks to the person at the terminal. */
  stderr: (text: string) => void;
  isTerminal: boolean;
  /** What `--since 1h` counts from. Default: the time. */
  clock?: Clock;
  /** True to show the stack of an unexpected error. */
  showStack?: boolean;
  /** The output of `--version`. */
  version?: string;

  serve(): Promise<void>;
  migrate(): Promise<void>;
  /** Returns false if a check fails. Prints the reasons itself. */
  doctor(): Promise<boolean>;
  /** Throws one error that names every fault of the folder, and every change against `older` that breaks receivers. */
  checkEventTypes(folder: string | null, older: string | null): Promise<{ types: number }>;
  demo(): Promise<void>;
  /** Receives deliveries until it is told to stop. */
  listen(options: ListenOptions): Promise<void>;
}
