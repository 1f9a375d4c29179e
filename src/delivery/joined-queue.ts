import type { OrganizationId, SubscriptionId } from "../domain/ids.ts";
import type { Due } from "./due.ts";

/** The queues of several shards as one, longest wait first. */
export class JoinedQueue {
  readonly #queues: readonly Due[];

  constructor(queues: readonly Due[]) {
    this.#queues = queues;
  }

  get size(): number {
    return this.#queues.reduce((sum, { size }) => sum + size, 0);
  }

  get organizationCount(): number {
    return this.#queues.reduce((sum, { organizationCount }) => sum + organizationCount, 0);
  }

  has(organization: OrganizationId): boolean {
    return this.#queues.some((queue) => queue.has(organization));
  }

  *of(organization: OrganizationId): Iterable<SubscriptionId> {
    for (const queue of this.#queues) yield* queue.of(organization);
  }

  /** Each queue is in order already, so it merges their heads. */
  get organizations(): Iterable<OrganizationId> {
    return mergeByWait(this.#queues);
  }
}

function* mergeByWait(queues: readonly Due[]): Iterable<OrganizationId> {
  const open = queues.map((queue) => ({ queue, ids: queue.organizations[Symbol.iterator]() }));
  const headOf = ({ queue, ids }: (typeof open)[number]) => {
    const next = ids.next();
    return next.done ? null : { id: next.value, sinceMs: queue.waitingSinceMs(next.value) };
  };
  const heads = open.map(headOf);
  for (;;) {
    let first = -1;
    for (const [index, head] of heads.entries()) {
      if (head !== null && head.sinceMs < (heads[first]?.sinceMs ?? Infinity)) first = index;
    }
    const [head, source] = [heads[first], open[first]];
    if (!head || !source) return;
    yield head.id;
    heads[first] = headOf(source);
  }
}
