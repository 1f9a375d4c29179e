/** A change that `pgoutput` tells of. The others are of no use here. */
export type Change =
  | { kind: "begin" }
  /** `endLsn`: where the next transaction begins. */
  | { kind: "commit"; endLsn: bigint }
  | { kind: "insert"; relation: Relation; values: (string | null)[] }
  | { kind: "truncate" };

export interface Relation {
  oid: number;
  /** With its schema, and without quotes. */
  name: string;
  columns: { name: string; type: number }[];
}

/** Reads the messages of `pgoutput`, protocol version 1. */
export class PgOutput {
  readonly #relations = new Map<number, Relation>();

  /** Returns null for a message of no use here. Our own marks of what is set aside are updates, too. */
  read(message: Buffer): Change | null {
    const reader = new Reader(message);
    switch (reader.character()) {
      case "B":
        return { kind: "begin" };
      case "C":
        reader.skip(1 + 8);
        return { kind: "commit", endLsn: reader.bigint() };
      case "R": {
        const relation = relationIn(reader);
        this.#relations.set(relation.oid, relation);
        return null;
      }
      case "I": {
        const relation = this.#relations.get(reader.int());
        if (!relation)
          throw new Error("pgoutput sent a row of a relation that it did not describe");
        reader.skip(1);
        return { kind: "insert", relation, values: reader.tuple() };
      }
      case "T":
        return { kind: "truncate" };
      default:
        return null;
    }
  }
}

function relationIn(reader: Reader): Relation {
  const oid = reader.int();
  const name = `${reader.text()}.${reader.text()}`;
  reader.skip(1);
  const columns = Array.from({ length: reader.short() }, () => {
    reader.skip(1);
    const column = { name: reader.text(), type: reader.int() };
    reader.skip(4);
    return column;
  });
  return { oid, name, columns };
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  skip(count: number): void {
    this.#at += count;
  }

  character(): string {
    return String.fromCharCode(this.#bytes.readUInt8(this.#at++));
  }

  short(): number {
    this.#at += 2;
    return this.#bytes.readUInt16BE(this.#at - 2);
  }

  int(): number {
    this.#at += 4;
    return this.#bytes.readUInt32BE(this.#at - 4);
  }

  bigint(): bigint {
    this.#at += 8;
    return this.#bytes.readBigUInt64BE(this.#at - 8);
  }

  text(): string {
    const end = this.#bytes.indexOf(0, this.#at);
    const text = this.#bytes.toString("utf8", this.#at, end);
    this.#at = end + 1;
    return text;
  }

  /** Null stands for NULL, and for a large value that a change left as it was, which an insert never has. */
  tuple(): (string | null)[] {
    return Array.from({ length: this.short() }, () => {
      if (this.character() !== "t") return null;
      const length = this.int();
      this.#at += length;
      return this.#bytes.toString("utf8", this.#at - length, this.#at);
    });
  }
}

const JSON_TYPES = new Set([114, 3802]);
const NUMBERS = new Set([20, 21, 23, 700, 701, 1700]);
const BOOLEAN = 16;
const TIMESTAMPS = new Set([1114, 1184]);

/** Returns a row as the JSON that `row_to_json` makes of it. */
export function rowAsJson({ columns }: Relation, values: readonly (string | null)[]): string {
  const members = columns.map(
    ({ name, type }, i) => `${JSON.stringify(name)}:${valueAsJson(values[i] ?? null, type)}`,
  );
  return `{${members.join(",")}}`;
}

function valueAsJson(value: string | null, type: number): string {
  if (value === null) return "null";
  if (JSON_TYPES.has(type)) return value;
  if (NUMBERS.has(type) && /^-?[0-9]/.test(value)) return value; // Neither NaN nor Infinity.
  if (type === BOOLEAN) return value === "t" ? "true" : "false";
  if (TIMESTAMPS.has(type)) return JSON.stringify(isoTime(value));
  return JSON.stringify(value);
}

/** `2026-11-28 01:02:03.5+00` becomes `2026-11-28T01:02:03.5+00:00`. */
function isoTime(text: string): string {
  return text.replace(" ", "T").replace(/([+-]\d\d)$/, "$1:00");
}
