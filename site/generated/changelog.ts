import { readSource } from "../source.ts";

/** A section for other readers, with its heading. */
const FOR_OTHERS = /^### (?!.* for partners$).*\n(?:(?!#{2,3} ).*\n)*/gm;

/** The versions of CHANGELOG.md with their sections for partners. */
export function changelog(): string {
  const written = readSource("CHANGELOG.md");
  const versions = written.slice(written.indexOf("## "));
  return versions
    .replace(FOR_OTHERS, "")
    .replace(/^### (.+) for partners$/gm, "### $1")
    .replace(/^## \[(.+)\]/gm, "## $1");
}
