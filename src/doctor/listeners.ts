import type { Config } from "../config.ts";
import { type Listener, listenersOf, requireListenable, urlOf } from "../wiring/listener.ts";
import type { Check } from "./check.ts";

const ANSWER_MS = 2_000;

const VARIABLES = {
  partners: { host: "HOST", port: "PORT" },
  operators: { host: "OPERATOR_HOST", port: "OPERATOR_PORT" },
};

export function listenerChecks(config: Config): Check[] {
  return listenersOf(config).map((listener) => [
    `${listener.of}' port`,
    () => checkListener(listener),
  ]);
}

async function checkListener({ of, host, port }: Listener): Promise<string> {
  try {
    await requireListenable(host, port);
    return `${host}:${port} is free`;
  } catch (error) {
    const { message, cause } = error as Error;
    const isTaken = (cause as NodeJS.ErrnoException).code === "EADDRINUSE";
    if (isTaken && (await isOurs(urlOf(host, port))))
      return `${host}:${port} is in use by this service`;
    const names = VARIABLES[of];
    throw new Error(
      `${message}: change ${isTaken ? names.port : `${names.host} or ${names.port}`}`,
      {
        cause: error,
      },
    );
  }
}

/** Returns true if this service listens there. `doctor` is run beside it. */
async function isOurs(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(ANSWER_MS) });
    const { status } = (await answer.json()) as { status?: unknown };
    return status === "ok" && answer.headers.has("x-request-id");
  } catch {
    return false;
  }
}
