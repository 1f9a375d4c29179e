import type { Questions, Reply } from "./child.ts";

interface Asked {
  id: number;
  question: string;
  details: unknown;
}

/** Makes this process answer these questions until its parent ends. */
export function answer(questions: Questions): void {
  const known = questions as Record<string, (details: unknown) => unknown>;

  process.on("message", (asked) => void reply(asked as Asked));
  process.on("disconnect", () => process.exit());
  process.on("SIGINT", () => undefined); // Ctrl-C reaches this process too, but only the parent ends it.

  async function reply({ id, question, details }: Asked): Promise<void> {
    try {
      send({ id, answer: await known[question]?.(details) });
    } catch (error) {
      send({ id, error: error instanceof Error ? error.message : String(error) });
    }
  }
}

function send(reply: Reply): void {
  process.send?.(reply);
}
