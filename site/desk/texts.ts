/** From site/pages/troubleshooting.md, by the `reason` that each section explains. */
export interface Cause {
  meaning: string;
  repair: string;
  anchor: string;
  /** By the `detail` of a failure, or by its status, such as `404` or `5xx`. */
  details: Record<string, { meaning: string; repair: string }>;
}

/** Commands that get and start the example receiver, by language. From site/samples. */
export type ReceiverCommands = Record<string, { get: string; start: string }>;
