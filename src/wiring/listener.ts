import type { App } from "../http/app.ts";

/** Opens a listener and answers its base URL. */
export async function openListener(app: App, host: string, port: number): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    throw cannotListen(host, port, error);
  }
}

/** The same error in words that help. */
export function cannotListen(host: string, port: number, error: unknown): Error {
  const { code } = error as NodeJS.ErrnoException;
  const why = WHY.get(code ?? "") ?? (error as Error).message;
  return new Error(`cannot listen on ${host}:${port}: ${why}`, { cause: error });
}

const WHY = new Map([
  ["EADDRINUSE", "the port is in use"],
  ["EACCES", "not allowed"],
  ["EADDRNOTAVAIL", "this machine has no such address"],
  ["ENOTFOUND", "no such host"],
]);
