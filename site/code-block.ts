import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import go from "highlight.js/lib/languages/go";
import http from "highlight.js/lib/languages/http";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import typescript from "highlight.js/lib/languages/typescript";
import type { Tokens } from "marked";
import { downloadOf } from "./downloads.ts";
import { escapeHtml } from "./html.ts";
import { infoOf } from "./info.ts";
import { readSource } from "./source.ts";

const LANGUAGES = { bash, go, http, javascript, json, php, python, ruby, typescript };
for (const [name, grammar] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, grammar);

/** A highlighted block of code. With `file`, it shows that file, which the tests run. */
export function codeBlock(token: Tokens.Code): string {
  const { language, file } = infoOf(token);
  const text = file === undefined ? token.text : readSource(file).trimEnd();
  const code = language in LANGUAGES ? hljs.highlight(text, { language }).value : escapeHtml(text);
  const name = file === undefined ? undefined : downloadOf(file);
  const head =
    name === undefined
      ? ""
      : `<figcaption><a href="/docs/files/${name}" download>${name}</a></figcaption>`;
  return `<figure class="code">${head}<pre><code data-language="${escapeHtml(language)}">${code}</code></pre></figure>\n`;
}
