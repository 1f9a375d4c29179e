import type { Tokens } from "marked";

/** The info string of a fence: `python title="Python" file=examples/verify.py`. */
export interface Info {
  language: string;
  title?: string;
  file?: string;
}

export function infoOf({ lang = "" }: Pick<Tokens.Code, "lang">): Info {
  const [language = ""] = lang.split(" ");
  const settings = [...lang.matchAll(/(\w+)=(?:"([^"]*)"|(\S+))/g)];
  const values = settings.map(([, name = "", quoted, bare]) => [name, quoted ?? bare]);
  return { language, ...(Object.fromEntries(values) as object) };
}
