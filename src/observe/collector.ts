import { setFlagsFromString } from "node:v8";

/**
 * Tunes V8's garbage collector for a program that runs for long. These are options of V8, not of Node.js. A version that has dropped
 * one reports it on standard error and continues.
 */
export function tuneCollector(): void {
  // By default V8 treats new objects as old if their place in the code creates long-lived ones. Requests share such places with
  // connections. Their objects, and all that these refer to, would stay until the next full collection.
  setFlagsFromString("--no-allocation-site-pretenuring");
  // A full collection starts when old objects have doubled since the last one. The default is up to four times.
  setFlagsFromString("--heap-growing-percent=100");
}

/**
 * Collects more often, for a program of which most objects live for milliseconds. By default V8 doubles the space for new objects up to 32
 * MB, or 64 in later versions. Options for its size work at the start of a process alone, and the one for its growth at any time.
 */
export function saveMemory(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--heap-growing-percent=50");
}
