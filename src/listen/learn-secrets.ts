import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { isSigningSecret } from "../commands/listen-options.ts";

/**
 * Calls `tell` for each line of the input: with a signing secret, or with null for anything else. Returns a function that
 * stops. An error of the input only ends the learning.
 */
export function learnSecrets(input: Readable, tell: (secret: string | null) => void): () => void {
  const lines = createInterface({ input, terminal: false });
  lines.on("line", (line) => {
    const text = line.trim();
    if (text !== "") tell(isSigningSecret(text) ? text : null);
  });
  lines.on("error", () => lines.close());
  return () => {
    lines.close();
    input.destroy();
  };
}
