import type { Connection } from "./connections.ts";
import { noConnection } from "./failure.ts";

/** A statement or a transaction that waits for a connection. */
export interface Call {
  resolve: (connection: Connection) => void;
  reject: (error: Error) => void;
  timer?: NodeJS.Timeout;
}

/** Calls in the order in which they came. One that waits for too long is refused. */
export class Waiting {
  readonly #limitMs: number;
  #calls: Call[] = [];

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  add(call: Call): void {
    this.#calls.push(this.#limited(call));
  }

  /** One that has been taken out, and could not be served. */
  putBack(call: Call): void {
    this.#calls.unshift(this.#limited(call));
  }

  takeNext(): Call | undefined {
    const call = this.#calls.shift();
    clearTimeout(call?.timer);
    return call;
  }

  rejectAll(error: Error): void {
    for (let call = this.takeNext(); call; call = this.takeNext()) call.reject(error);
  }

  #limited(call: Call): Call {
    call.timer = setTimeout(() => {
      this.#calls = this.#calls.filter((other) => other !== call);
      call.reject(noConnection(this.#limitMs));
    }, this.#limitMs);
    return call;
  }
}
