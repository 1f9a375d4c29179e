import { findBreakingChanges } from "./compare.ts";
import { describeFaults, loadFolder } from "./load.ts";

/**
 * Checks a folder of event types, and against an older one that nothing breaks receivers. Returns the number of types.
 * Throws one error that names every fault.
 */
export async function checkEventTypes(
  folder: string,
  older: string | null,
  annotations: readonly string[] = [],
): Promise<number> {
  const { types, definitions, faults } = await loadFolder(folder, annotations);
  const messages = faults.length === 0 ? [] : [describeFaults(folder, faults)];
  if (older !== null) {
    const before = await loadFolder(older, annotations);
    // A file that cannot be read is reported above, and is not removed.
    const unread = new Set(faults.map(({ file }) => file));
    const breaking = findBreakingChanges(before.definitions, definitions, annotations).filter(
      ({ file }) => !unread.has(file),
    );
    if (before.faults.length > 0) messages.push(describeFaults(older, before.faults));
    if (breaking.length > 0) {
      messages.push(describeFaults(`changes against ${older} break receivers`, breaking));
    }
  }
  if (messages.length > 0) throw new Error(messages.join("\n"));
  return types.length;
}
