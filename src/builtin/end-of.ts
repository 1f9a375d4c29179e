/** Says how a process ended: `SIGKILL` or `exit code 1`. */
export function endOf(code: number | null, signal: string | null): string {
  return signal ?? `exit code ${code ?? ""}`;
}
