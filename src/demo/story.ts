/** Tells what happens, a line at a time, on one screen. */
export class Story {
  readonly #write: (text: string) => void;
  #chapter = 0;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  chapter(title: string): void {
    this.#write(`\n${++this.#chapter}. ${title}\n`);
  }

  fact(name: string, value: string | number | boolean | null): void {
    this.#write(`   ${name.padEnd(22)} ${value}\n`);
  }
}
