/** Prints numbered steps and their details. */
export class Transcript {
  readonly #write: (text: string) => void;
  readonly #stop: AbortSignal;
  #steps = 0;

  constructor(write: (text: string) => void, stop: AbortSignal) {
    this.#write = write;
    this.#stop = stop;
  }

  /** Starts a step. Throws if the demo was stopped. */
  step(title: string): void {
    this.#stop.throwIfAborted();
    this.#write(`\n${++this.#steps}. ${title}\n`);
  }

  field(name: string, value: string | number | boolean | null): void {
    this.#write(`   ${name.padEnd(22)} ${value}\n`);
  }
}
