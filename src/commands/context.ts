import type { Dependencies } from "../actions/dependencies.ts";
import type { ListenOptions } from "./listen.ts";

/** Everything a command reaches besides its arguments. Built once, in cli.ts or in a test. */
export interface CommandContext {
  /** Opens the database, brings its schema up to date, runs, and closes whatever `run` does. */
  withDependencies<T>(run: (deps: Dependencies) => Promise<T>): Promise<T>;
  /** What a command answers, and nothing else: it may be piped into the next program. */
  stdout: (text: string) => void;
  /** Faults, and remarks for whoever sits in front of it. */
  stderr: (text: string) => void;
  isTerminal: boolean;
  /** Whether an unexpected error is shown with its stack. */
  showStack?: boolean;
  /** What `--version` says. */
  version?: string;

  serve(): Promise<void>;
  migrate(): Promise<void>;
  /** False when something is not in order; it says itself what. */
  doctor(): Promise<boolean>;
  demo(): Promise<void>;
  /** Receives until it is told to stop. */
  listen(options: ListenOptions): Promise<void>;
}
