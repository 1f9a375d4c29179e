/** Tells what happens, a line at a time, on one screen. */
export class Story {
  readonly #write: (text: string) => void;
  readonly #stop: AbortSignal;
  #chapter = 0;

  constructor(write: (text: string) => void, stop: AbortSignal) {
    this.#write = write;
    this.#stop = stop;
  }

  /** Throws when the story is to end here. */
  chapter(title: string): void {
    this.#stop.throwIfAborted();
    this.#write(`\n${++this.#chapter}. ${title}\n`);
  }

  fact(name: string, value: string | number | boolean | null): void {
    this.#write(`   ${name.padEnd(22)} ${value}\n`);
  }
}
