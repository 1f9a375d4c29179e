const TICK_MS = 50;
const LATE_MS = 50;

/**
 * Calls `look` after each long turn of the event loop, before the input that arrived meanwhile is read. It tells how late the turn
 * is. Returns the function that stops it.
 */
export function watchLongTurns(look: (lateMs: number) => void): () => void {
  let dueMs = performance.now() + TICK_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    if (now - dueMs > LATE_MS) look(now - dueMs);
    dueMs = now + TICK_MS;
  }, TICK_MS).unref();
  return () => clearInterval(timer);
}
