import { BadAnswer } from "./fields.ts";

/** The part of a message that has arrived and is not read yet, one character for each byte. */
export class ArrivedText {
  #text = "";
  #at = 0;

  get length(): number {
    return this.#text.length - this.#at;
  }

  append(chunk: Buffer): void {
    const text = chunk.toString("latin1");
    this.#text = this.length === 0 ? text : this.#text.slice(this.#at) + text;
    this.#at = 0;
  }

  /** Returns true if the text starts with `start`, or may when more arrives. */
  mayStartWith(start: string): boolean {
    return start.startsWith(this.#text.slice(this.#at, this.#at + start.length));
  }

  /** Returns the next line without its CRLF, or undefined while it is incomplete. */
  takeLine(): string | undefined {
    const end = this.#text.indexOf("\n", this.#at);
    if (end === -1) return undefined;
    if (end === this.#at || this.#text[end - 1] !== "\r")
      throw new BadAnswer("a line feed without a carriage return");
    const line = this.#text.slice(this.#at, end - 1);
    this.#at = end + 1;
    return line;
  }

  /** Removes up to `length` characters, and returns how many it removed. */
  skip(length: number): number {
    const skipped = Math.min(length, this.length);
    this.#at += skipped;
    return skipped;
  }
}
