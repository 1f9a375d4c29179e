import type { Behaviour } from "../receiver/behaviour.ts";

export interface ListenOptions {
  port: number;
  /** The folder of the certificates. Undefined: in the data folder. */
  folder: string | undefined;
  /** Each may have signed. If empty, nothing is verified. */
  secrets: string[];
  behaviour: Behaviour;
  json: boolean;
}
