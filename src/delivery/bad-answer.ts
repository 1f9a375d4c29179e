/** An answer that is not HTTP/1.1, or that exceeds our limits. */
export class BadAnswer extends Error {}
