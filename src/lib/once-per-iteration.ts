/** Lets each holder go on once in each iteration of the event loop. In between, the loop serves others. */
export class OncePerIteration<Holder> {
  readonly #last = new Map<Holder, Promise<void>>();

  /** Resolves in the order of the holder's calls. */
  next(holder: Holder): Promise<void> {
    const own = this.#last.get(holder) ?? Promise.resolve();
    const next = own.then(() => new Promise<void>((resume) => setImmediate(resume)));
    this.#last.set(holder, next);
    void next.then(() => {
      if (this.#last.get(holder) === next) this.#last.delete(holder);
    });
    return own;
  }
}
