import { readSource } from "../source.ts";

/** An entry that is not for partners, with its continuation lines. */
const FOR_OTHERS = /^- (?!For partners: ).*\n(?: {2}.*\n)*/gm;
const FOR_PARTNERS = /^- For partners: (.)/gm;

/** The versions of CHANGELOG.md with their entries for partners. */
export function changelog(): string {
  const written = readSource("CHANGELOG.md");
  const versions = written.slice(written.indexOf("## "));
  return versions
    .replace(FOR_OTHERS, "")
    .replace(FOR_PARTNERS, (_entry, first: string) => `- ${first.toUpperCase()}`)
    .replace(/^## \[(.+)\]/gm, "## $1");
}
