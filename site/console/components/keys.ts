/** True if a key belongs to a field or to a combination of the browser's. */
export function isTyping({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey) return true;
  return (
    target instanceof HTMLElement &&
    (target.matches("input, select, textarea") || target.closest("dialog") !== null)
  );
}
