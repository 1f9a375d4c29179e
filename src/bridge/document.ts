import { JsonText } from "./json-text.ts";

/** A message that can never become an event. The text is the reason. */
export class Unfit extends Error {
  override readonly name = "Unfit";
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Bytes that are no UTF-8 become hexadecimal digits: as text, two ids could look alike, and the second event would be a duplicate. */
export function textOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return Buffer.from(bytes).toString("hex");
  }
}

/** The body of a message, read as JSON when something first asks for it. */
export class Document {
  readonly #body: string | Uint8Array;
  #json: JsonText | undefined;

  constructor(body: string | Uint8Array) {
    this.#body = body;
  }

  /** Returns the text of the value at a path, or undefined if there is none. Throws `Unfit` if the body is not JSON. */
  at(path: readonly string[]): string | undefined {
    return (this.#json ??= this.#read()).at(path);
  }

  #read(): JsonText {
    try {
      return new JsonText(typeof this.#body === "string" ? this.#body : utf8.decode(this.#body));
    } catch (error) {
      throw new Unfit(`the message is not ${error instanceof SyntaxError ? "JSON" : "UTF-8"}`);
    }
  }
}
