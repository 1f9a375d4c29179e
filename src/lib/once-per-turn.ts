/** Lets each holder go on once in each turn of the event loop. In between, the loop serves others. */
export class OncePerTurn<Holder> {
  readonly #nextTurns = new Map<Holder, Promise<void>>();

  /** Resolves in the order of the holder's calls. */
  turn(holder: Holder): Promise<void> {
    const own = this.#nextTurns.get(holder) ?? Promise.resolve();
    const next = own.then(() => new Promise<void>((resume) => setImmediate(resume)));
    this.#nextTurns.set(holder, next);
    void next.then(() => {
      if (this.#nextTurns.get(holder) === next) this.#nextTurns.delete(holder);
    });
    return own;
  }
}
