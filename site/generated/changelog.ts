import { readSource } from "../source.ts";

/** CHANGELOG.md below its title. */
export function changelog(): string {
  return readSource("CHANGELOG.md").replace(/^# .*\n/, "");
}
