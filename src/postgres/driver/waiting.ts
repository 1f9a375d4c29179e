import { FairQueue } from "../../lib/fair-queue.ts";
import type { Connection } from "./connections.ts";
import { noConnection, noConnectionOf } from "./failure.ts";

/** An organization, or null for the service itself. */
export type Holder = string | null;

/** The part of its time for which an organization's call waits. The rest is enough for the server, unless it is slow. */
const HOLDER_WAIT = 1 / 2;

/** A statement or a transaction that needs a connection. It is refused if it gets none in time. */
export class Call {
  /** For whom the connection is. Null: the service itself. */
  readonly holder: Holder;
  readonly connection: Promise<Connection>;
  readonly #timer: NodeJS.Timeout;
  /** Null if the call is over. */
  #open: { resolve: (connection: Connection) => void; reject: (error: Error) => void } | null =
    null;

  constructor(holder: Holder, limitMs: number) {
    this.holder = holder;
    this.connection = new Promise((resolve, reject) => (this.#open = { resolve, reject }));
    const [waitMs, refusal] =
      holder === null ? [limitMs, noConnection] : [limitMs * HOLDER_WAIT, noConnectionOf];
    // Timers cut fractions off. The batch of the call notices first that its time is over, and refuses the calls behind it, too.
    this.#timer = setTimeout(() => this.reject(refusal(waitMs)), Math.ceil(waitMs));
  }

  /** True if it has its connection or was refused. */
  get isOver(): boolean {
    return this.#open === null;
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
    const open = this.#open;
    this.#open = null;
    return open;
  }
}

/** Waiting calls. The holders take turns. */
export class Waiting {
  readonly #calls = new FairQueue<Holder, Call>();

  add(call: Call): void {
    this.#calls.add(call.holder, call);
  }

  /** Puts a call back in front after its connection failed. */
  putBack(call: Call): void {
    this.#calls.putBack(call.holder, call);
  }

  takeNext(mayTake: (holder: Holder) => boolean): Call | undefined {
    let call = this.#calls.take(mayTake);
    while (call?.isOver) call = this.#calls.take(mayTake);
    return call;
  }

  rejectAll(error: Error): void {
    for (const call of this.#calls.takeAll()) call.reject(error);
  }
}
