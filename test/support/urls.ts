import { fixture } from "./fixture.ts";

export interface TestUrl {
  url: string;
  accepted: boolean;
  /** The explanation for the partner, or null. */
  reason: string | null;
  note: string;
}

/** URLs of every kind, each with its verdict. */
export const URLS = JSON.parse(fixture("urls.json")) as TestUrl[];
