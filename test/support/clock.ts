import type { Clock } from "../../src/lib/clock.ts";

/** The time of tests, unless they set another. */
export const ERA = new Date("2026-01-01T00:00:00.000Z");

/** A clock that only the test moves. */
export type TestClock = Clock & { advance: (ms: number) => void };

export function createClock(start: Date = ERA): TestClock {
  let now = start.getTime();
  return Object.assign(() => new Date(now), {
    advance: (ms: number) => {
      now += ms;
    },
  });
}
