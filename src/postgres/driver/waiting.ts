import type { Connection } from "./connections.ts";
import { noConnection } from "./failure.ts";

/** A statement or a transaction that needs a connection. It is refused if it gets none in time. */
export class Call {
  readonly connection: Promise<Connection>;
  readonly #timer: NodeJS.Timeout;
  #settle: { resolve: (connection: Connection) => void; reject: (error: Error) => void } | null =
    null;

  constructor(limitMs: number) {
    this.connection = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    this.#timer = setTimeout(() => this.reject(noConnection(limitMs)), limitMs);
  }

  /** True if it has its connection or was refused. */
  get isOver(): boolean {
    return this.#settle === null;
  }

  /** Returns false if it was refused before. Then the caller keeps the connection. */
  resolve(connection: Connection): boolean {
    const isWanted = !this.isOver;
    this.#end()?.resolve(connection);
    return isWanted;
  }

  reject(error: Error): void {
    this.#end()?.reject(error);
  }

  #end() {
    clearTimeout(this.#timer);
    const settle = this.#settle;
    this.#settle = null;
    return settle;
  }
}

/** Waiting calls, in the order in which they came. */
export class Waiting {
  #calls: Call[] = [];

  add(call: Call): void {
    this.#calls.push(call);
  }

  /** Puts a call back in front after its connection failed. */
  putBack(call: Call): void {
    this.#calls.unshift(call);
  }

  takeNext(): Call | undefined {
    let call = this.#calls.shift();
    while (call?.isOver) call = this.#calls.shift();
    return call;
  }

  rejectAll(error: Error): void {
    for (const call of this.#calls.splice(0)) call.reject(error);
  }
}
