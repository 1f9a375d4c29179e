import type { Questions, Reply } from "./child.ts";

interface Asked {
  id: number;
  question: string;
  details: unknown;
}

/** Makes of this process one that answers these questions until whoever started it is gone. */
export function answer(questions: Questions): void {
  const known = questions as Record<string, (details: unknown) => unknown>;

  process.on("message", (asked) => void reply(asked as Asked));
  process.on("disconnect", () => process.exit());
  process.on("SIGINT", () => undefined); // Ctrl-C reaches us too, but it is our parent that ends things.

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
