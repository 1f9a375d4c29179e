/** An answer that is no HTTP/1.1, is longer than any need be, or can be read in two ways. */
export class BadAnswer extends Error {}
