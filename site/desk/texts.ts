/** From site/pages/troubleshooting.md, by the `reason` that each section explains. */
export interface Cause {
  meaning: string;
  repair: string;
  anchor: string;
  /** By the `detail` of a failure. */
  details: Record<string, { meaning: string; repair: string }>;
}

/** Commands that get and start the example receiver, by language. From site/samples. */
export type ReceiverCommands = Record<string, { get: string; start: string }>;
