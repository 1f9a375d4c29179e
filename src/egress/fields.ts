/** An answer that is not HTTP/1.1, or that exceeds our limits. Each becomes `protocol_error`. The text is for readers of the code. */
export class BadAnswer extends Error {}

const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t\x20-\x7e\x80-\xff]*)$/;

/** The fields of a head or of trailers. Names are in lower case. The values of a repeated name are joined by commas. */
export type Fields = ReadonlyMap<string, string>;

export function readFields(lines: string[]): Fields {
  const fields = new Map<string, string>();
  for (const line of lines) {
    const [, name, value] = FIELD.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new BadAnswer("a malformed field");
    const key = name.toLowerCase();
    const earlier = fields.get(key);
    fields.set(key, earlier === undefined ? value : `${earlier},${value}`);
  }
  return fields;
}
