// The part of highlight.js that we use. Its own declarations import the DOM's types, which declare
// `fetch` again.

export interface Highlighter {
  registerLanguage(name: string, grammar: object): void;
  /** Returns HTML with escaped text. */
  highlight(code: string, options: { language: string }): { value: string };
}

declare const highlighter: Highlighter;
export default highlighter;
