import { BadAnswer } from "./bad-answer.ts";

/** What has arrived of a message and is not read yet, a character for each byte. */
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

  /** Whether it is, or may still become, something that starts so. */
  mayStartWith(start: string): boolean {
    return start.startsWith(this.#text.slice(this.#at, this.#at + start.length));
  }

  /** The next line without its CRLF, once it is complete. */
  takeLine(): string | undefined {
    const end = this.#text.indexOf("\n", this.#at);
    if (end === -1) return undefined;
    if (end === this.#at || this.#text[end - 1] !== "\r") throw new BadAnswer("a line feed alone");
    const line = this.#text.slice(this.#at, end - 1);
    this.#at = end + 1;
    return line;
  }

  /** Takes up to so many characters away, and returns how many there were. */
  skip(length: number): number {
    const skipped = Math.min(length, this.length);
    this.#at += skipped;
    return skipped;
  }
}
