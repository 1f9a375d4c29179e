/** How highlight.js colours a language. */
declare const grammar: object;
export default grammar;
