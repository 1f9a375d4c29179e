import { Problem } from "./problem.ts";

export const ROOT = "/api/v1/admin/";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** On `signed-out` the console returns to the sign-in page. Its detail is the reason. */
export const signedOut = new EventTarget();

/** Calls the operator API. The session's cookie goes with it. Returns null if the answer has no body. */
export async function call<T>(
  method: Method,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<T> {
  const response = await send(method, path, body, signal);
  const content = response.status === 204 ? null : await read(response);
  if (response.ok) return content as T;
  const problem = new Problem(response.status, content as object);
  if (response.status === 401) {
    signedOut.dispatchEvent(new CustomEvent("signed-out", { detail: problem.message }));
  }
  throw problem;
}

async function send(method: Method, path: string, body: unknown, signal?: AbortSignal) {
  // A form on another site cannot send this header, so the service takes no change from one.
  const headers: Record<string, string> = method === "GET" ? {} : { "x-requested-with": "console" };
  if (body !== undefined) headers["content-type"] = "application/json";
  try {
    return await fetch(ROOT + path, {
      method,
      headers,
      credentials: "same-origin",
      redirect: "error",
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem(0, { detail: "The service is unreachable." });
  }
}

async function read(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    const detail = `The answer with status ${response.status} is not from the service: check the proxy in front of it.`;
    throw new Problem(response.status, { detail });
  }
}

/** A path with its query. Empty values are left out. */
export function pathOf(path: string, query: Record<string, string | undefined>): string {
  const kept = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  return kept.length === 0 ? path : `${path}?${String(new URLSearchParams(kept))}`;
}
