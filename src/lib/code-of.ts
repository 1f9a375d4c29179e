/** Returns the code of an error, such as `ECONNREFUSED` or an SQLSTATE. Empty if it has none. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : "";
}
