import type { TLSSocket } from "node:tls";
import { TOO_LONG } from "./outcome-of-error.ts";

/**
 * Ends a socket on which more than `max` bytes come for one request, whatever they are. undici counts
 * header names, values and bodies; reason phrases, white space, empty lines and the framing of a body
 * would flow for as long as the attempt lasts.
 */
export class ReadLimit {
  readonly #max: number;
  #bytes = 0;

  constructor(socket: TLSSocket, max: number) {
    this.#max = max;
    const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
    socket.read = (size?: number) => {
      const chunk = read(size);
      this.#bytes += chunk?.length ?? 0;
      if (this.#bytes <= this.#max) return chunk;
      socket.destroy(Object.assign(new Error("an answer that is too long"), { code: TOO_LONG }));
      return null;
    };
  }

  /** A request goes out, and with it the count begins anew. */
  restart(): void {
    this.#bytes = 0;
  }
}
