/** A language definition of highlight.js. */
declare const grammar: object;
export default grammar;
