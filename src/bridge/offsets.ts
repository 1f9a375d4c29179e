/** The offsets of a partition that were received, in order, and how far everything is settled. Offsets have gaps. */
export class Offsets {
  readonly topic: string;
  readonly partition: number;
  #open: bigint[] = [];
  readonly #settled = new Set<bigint>();
  /** The offset from which a consumer would have to go on. */
  #next = -1n;
  #committed = -1n;

  constructor(topic: string, partition: number) {
    this.topic = topic;
    this.partition = partition;
  }

  receive(offset: bigint): void {
    this.#open.push(offset);
  }

  settle(offset: bigint): void {
    this.#settled.add(offset);
    let done = 0;
    for (const first of this.#open) {
      if (!this.#settled.delete(first)) break;
      this.#next = first + 1n;
      done++;
    }
    if (done > 0) this.#open = this.#open.slice(done);
  }

  get next(): bigint {
    return this.#next;
  }

  get isAhead(): boolean {
    return this.#next > this.#committed;
  }

  /** Another commit may have gone further meanwhile. */
  commit(next: bigint): void {
    if (next > this.#committed) this.#committed = next;
  }
}
