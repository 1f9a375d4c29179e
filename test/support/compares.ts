import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import type { TestContext } from "node:test";

/** The lengths of all values that are compared in constant time from now on. */
export function comparesOf(t: TestContext): [number, number][] {
  const compared: [number, number][] = [];
  const { timingSafeEqual } = crypto;
  t.mock.method(crypto, "timingSafeEqual", (a: Uint8Array, b: Uint8Array) => {
    compared.push([a.length, b.length]);
    return timingSafeEqual(a, b);
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  return compared;
}
