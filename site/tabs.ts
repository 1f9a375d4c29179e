import type { TokenizerAndRendererExtension, Tokens } from "marked";
import { codeBlock } from "./code-block.ts";
import { escapeHtml } from "./html.ts";
import { infoOf } from "./info.ts";

/**
 * Code in several languages: fences with titles between `:::tabs <label>` and `:::`. Without
 * scripts they stand below each other; docs.js makes tabs.
 */
export const tabs: TokenizerAndRendererExtension = {
  name: "tabs",
  level: "block",
  start: (source) => /^:::tabs/m.exec(source)?.index,
  tokenizer(source) {
    const [raw, label, inner] = /^:::tabs (.+)\n([\s\S]+?)\n:::(?:\n|$)/.exec(source) ?? [];
    if (raw === undefined || label === undefined || inner === undefined) return undefined;
    return { type: "tabs", raw, label, tokens: this.lexer.blockTokens(inner, []) };
  },
  renderer({ label, tokens = [] }) {
    const panels = tokens.filter((token): token is Tokens.Code => token.type === "code");
    return `<div class="tabs" data-label="${escapeHtml(String(label))}">${panels.map(panel).join("")}</div>\n`;
  },
};

function panel(code: Tokens.Code): string {
  const { title = "" } = infoOf(code);
  return `<div class="panel" data-title="${escapeHtml(title)}"><p class="panel-title">${escapeHtml(title)}</p>${codeBlock(code)}</div>`;
}
