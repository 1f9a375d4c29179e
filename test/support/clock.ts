import type { Clock } from "../../src/domain/clock.ts";

/** The time in which tests live, unless they say otherwise. */
export const ERA = new Date("2026-01-01T00:00:00.000Z");

/** A clock that stands still until it is moved by hand. */
export type TestClock = Clock & { advance: (ms: number) => void };

export function createClock(start: Date = ERA): TestClock {
  let now = start.getTime();
  return Object.assign(() => new Date(now), {
    advance: (ms: number) => {
      now += ms;
    },
  });
}
