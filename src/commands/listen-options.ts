import type { Behaviour } from "../receiver/behaviour.ts";

export interface ListenOptions {
  port: number;
  /** The folder of the certificates. Undefined: in the data folder. */
  folder: string | undefined;
  /** Each may have signed. If empty, nothing is verified. */
  secrets: string[];
  behaviour: Behaviour;
  /** Where to forward what `behaviour` accepts. Null: nowhere. */
  forwardTo: URL | null;
  /** The file to which deliveries are appended. Null: none. */
  record: string | null;
  /** The file whose deliveries are sent to `forwardTo` instead of listening. Null: none. */
  replay: string | null;
  json: boolean;
}

export function isSigningSecret(text: string): boolean {
  return /^whsec_\S{1,200}$/.test(text);
}
