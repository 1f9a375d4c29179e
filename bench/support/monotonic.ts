/** Milliseconds on the one clock that all processes of a machine share, and that nobody sets. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
