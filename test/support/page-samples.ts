import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "./root.ts";

export interface Sample {
  language: string;
  /** A word, or the name of the sample's file. */
  name: string;
  text: string;
}

/** The samples of a page in docs/, in order. Each code block has a language and a name. */
export async function samplesOf(page: string) {
  const text = await readFile(join(ROOT, "docs", page), "utf8");
  const all = [...text.matchAll(/^```(\w+) (\S+)\n(.*?)^```$/gms)].map(
    ([, language = "", name = "", sample = ""]): Sample => ({ language, name, text: sample }),
  );
  return {
    all,
    /** The text of the one sample with this name, such as `bash publish`. */
    sample: (wanted: string): string => {
      const found = all.filter(({ language, name }) => `${language} ${name}` === wanted);
      assert.equal(found.length, 1, `${page} has one sample: ${wanted}`);
      return found[0]?.text ?? "";
    },
  };
}
