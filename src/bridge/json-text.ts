import { isObject } from "../lib/objects.ts";

/**
 * A JSON document that keeps its text. What a pointer names is returned as it was written, because parsing and writing again would
 * change numbers such as 1.10, and the order of members. A pointer goes on in a string that is JSON itself, as SNS and Debezium write it.
 */
export class JsonText {
  readonly #text: string;
  /** Where the values of an object begin, by its own start and their names. */
  readonly #members = new Map<number, ReadonlyMap<string, number>>();
  /** What strings contain, by their starts. Null if it is no JSON. */
  readonly #inner = new Map<number, JsonText | null>();

  /** Throws a SyntaxError if the text is not JSON. */
  constructor(text: string) {
    JSON.parse(text);
    this.#text = text.trim();
  }

  /** Returns the text of the value at a path, or undefined if there is none. Of two members with one name the last counts. */
  at(path: readonly string[]): string | undefined {
    let start: number | undefined = 0;
    for (const [depth, name] of path.entries()) {
      if (this.#text[start] === '"') return this.#innerAt(start)?.at(path.slice(depth));
      start = this.#child(start, name);
      if (start === undefined) return undefined;
    }
    return this.#text.slice(start, endOfValue(this.#text, start));
  }

  #innerAt(start: number): JsonText | null {
    const known = this.#inner.get(start);
    if (known !== undefined) return known;
    const inner = innerOf(this.#text.slice(start, endOfString(this.#text, start)));
    this.#inner.set(start, inner);
    return inner;
  }

  #child(parent: number, name: string): number | undefined {
    const opening = this.#text[parent];
    if (opening === "{") return this.#membersOf(parent).get(name);
    if (opening !== "[") return undefined;
    for (const [own, at] of this.#children(parent)) if (own === name) return at;
    return undefined;
  }

  /** They are kept, because most members of an event are looked for in the same object. */
  #membersOf(parent: number): ReadonlyMap<string, number> {
    const known = this.#members.get(parent);
    if (known !== undefined) return known;
    const members = new Map(this.#children(parent));
    this.#members.set(parent, members);
    return members;
  }

  /** The names in an object, or the indexes in a list, and where their values begin. */
  *#children(parent: number): Generator<[name: string, at: number]> {
    const text = this.#text;
    const hasNames = text[parent] === "{";
    let at = skipSpace(text, parent + 1);
    for (let index = 0; text[at] !== "}" && text[at] !== "]"; index++) {
      let own = String(index);
      if (hasNames) {
        const end = endOfString(text, at);
        own = nameIn(text.slice(at, end));
        at = skipSpace(text, skipSpace(text, end) + 1);
      }
      yield [own, at];
      at = skipSpace(text, endOfValue(text, at));
      if (text[at] === ",") at = skipSpace(text, at + 1);
    }
  }
}

/** Returns the path of an RFC 6901 pointer, or null if it is malformed. */
export function parsePointer(pointer: string): string[] | null {
  if (!/^(?:\/(?:[^~]|~[01])*)?$/s.test(pointer)) return null;
  const names = pointer.split("/").slice(1);
  return names.map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function innerOf(written: string): JsonText | null {
  try {
    return new JsonText(JSON.parse(written) as string);
  } catch {
    return null;
  }
}

/** Returns the text of the object that a JSON string contains. A text that is no such string is returned as it is. */
export function unwrapped(value: string): string {
  if (!value.startsWith('"')) return value;
  try {
    const inner = JSON.parse(value) as string;
    return isObject(JSON.parse(inner)) ? inner.trim() : value;
  } catch {
    return value;
  }
}

/** Of the characters up to this one, JSON has white space alone between values. */
const SPACE = 0x20;
const SCALAR = /[^\t\n\r ,\]}]*/y;
const MARK = /["{}[\]]/g;

function skipSpace(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) <= SPACE) at++;
  return at;
}

function endOfScalar(text: string, start: number): number {
  SCALAR.lastIndex = start;
  SCALAR.test(text);
  return SCALAR.lastIndex;
}

/** Of a string as it was written. Most names have no escapes. */
function nameIn(written: string): string {
  return written.includes("\\") ? (JSON.parse(written) as string) : written.slice(1, -1);
}

function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); ; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === "\\") backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
  }
}

function endOfValue(text: string, start: number): number {
  if (text[start] === '"') return endOfString(text, start);
  if (text[start] !== "{" && text[start] !== "[") return endOfScalar(text, start);
  let depth = 0;
  let at = start;
  do {
    MARK.lastIndex = at;
    const mark = MARK.exec(text);
    if (mark === null) return text.length;
    at = mark[0] === '"' ? endOfString(text, mark.index) : mark.index + 1;
    if (mark[0] === "{" || mark[0] === "[") depth++;
    if (mark[0] === "}" || mark[0] === "]") depth--;
  } while (depth > 0);
  return at;
}
