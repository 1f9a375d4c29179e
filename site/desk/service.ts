import type { Cause, ReceiverCommands } from "./texts.ts";

/** What the service wrote into the page when it served it. */
export interface ServiceFacts {
  /** The name of the platform. */
  title: string;
  /** False: our own logo is shown. */
  hasLogo: boolean;
  /** The event types that a partner can list, with their meanings. */
  types: { name: string; summary: string }[];
  /** The failures in a row that disable a subscription. */
  disableAfter: number;
  /** The time limit of an attempt. */
  attemptTimeoutMs: number;
  /** What deliveries call their sender. */
  userAgent: string;
}

/** Texts of the documentation, and members of a test event. The build writes them. */
declare const CAUSES: Record<string, Cause>;
declare const RECEIVERS: ReceiverCommands;
declare const TEST_EVENT: { event: string; data: object };

export const causes = CAUSES;
export const receivers = RECEIVERS;
export const testEvent = TEST_EVENT;

const root = document.getElementById("desk");

export const facts = JSON.parse(root?.dataset.facts ?? "{}") as ServiceFacts;

/** The address of the service, with the path that a proxy may add. */
export const BASE_URL = location.origin + location.pathname.replace(/\/desk\/?$/, "");
export const DOCS = `${BASE_URL}/docs`;
