/** An answer that is not HTTP/1.1, or that exceeds our limits. Each becomes `protocol_error`. The text is for readers of the code. */
export class BadAnswer extends Error {}
