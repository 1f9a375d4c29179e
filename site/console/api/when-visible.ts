/** Does the work now, or when its tab is visible again. Returns what forgets it. */
export function whenVisible(work: () => void): () => void {
  if (!document.hidden) {
    work();
    return () => undefined;
  }
  document.addEventListener("visibilitychange", work, { once: true });
  return () => document.removeEventListener("visibilitychange", work);
}
