/** The parts of an answer. */
export interface Parts {
  pieces: readonly Buffer[];
  /** The heads of interim answers and of the final one, without their empty lines. */
  heads: string[];
  /** The head of the final answer. */
  head: string;
  /** Everything after the heads. */
  body: string;
}

const INTERIM = /^[\r\n]*HTTP\/1\.[01] 1(?!01)/;

export function partsOf(pieces: readonly Buffer[]): Parts {
  const heads: string[] = [];
  let body = Buffer.concat(pieces).toString("latin1");
  do {
    const end = body.indexOf("\r\n\r\n");
    if (end === -1) break;
    heads.push(body.slice(0, end + 2));
    body = body.slice(end + 4);
  } while (INTERIM.test(heads.at(-1) ?? ""));
  return { pieces, heads, head: heads.at(-1) ?? "", body };
}
