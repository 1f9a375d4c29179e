/** Blocks the thread for this time, like a process that was stopped or got no core. */
export function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
