// What we use of highlight.js. Its own declarations pull in the DOM's types, and with them a second `fetch`.

export interface Highlighter {
  registerLanguage(name: string, grammar: object): void;
  /** HTML, with the text escaped. */
  highlight(code: string, options: { language: string }): { value: string };
}

declare const highlighter: Highlighter;
export default highlighter;
