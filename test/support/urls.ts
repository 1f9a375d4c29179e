import { fixture } from "./fixture.ts";

export interface TestUrl {
  url: string;
  accepted: boolean;
  /** What the partner is told, or null. */
  reason: string | null;
  note: string;
}

/** URLs of every kind that we could think of, each with its verdict. */
export const URLS = JSON.parse(fixture("urls.json")) as TestUrl[];
