import { Crowded } from "../../domain/errors.ts";
import { Tally } from "../../lib/tally.ts";
import type { App } from "../app.ts";
import { operatorOf } from "./admission.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route does not wait for the turn of its operator, because something else bounds its use of the database. */
    takesNoTurn?: true;
  }
}

/** Requests of operators that use the database at a time. Its other connections are for partners and deliveries. */
const AT_ONCE = 3;
/** The same for one operator, so that others have one left. */
const AT_ONCE_EACH = 2;
/** Requests of one operator that may wait. */
const WAITING_MAX = 50;

interface Waiting {
  operator: string;
  begin: () => void;
}

/** Lets a few requests of operators use the database at a time, because a search may take long. */
export class OperatorTurns {
  readonly #running = new Tally<string>();
  readonly #waiting: Waiting[] = [];
  #busy = 0;

  async run<Result>(operator: string, work: () => Result | Promise<Result>): Promise<Result> {
    if (this.#mayBegin(operator)) this.#begin(operator);
    else await this.#wait(operator);
    try {
      return await work();
    } finally {
      this.#running.remove(operator);
      this.#busy--;
      this.#serve();
    }
  }

  /** Resolves when the turn has begun. */
  #wait(operator: string): Promise<void> {
    const ahead = this.#waiting.filter((one) => one.operator === operator).length;
    if (ahead >= WAITING_MAX)
      throw new Crowded("Too many requests with this token are waiting: try again.");
    return new Promise((begin) => {
      this.#waiting.push({ operator, begin });
    });
  }

  #mayBegin(operator: string): boolean {
    return this.#busy < AT_ONCE && this.#running.of(operator) < AT_ONCE_EACH;
  }

  #begin(operator: string): void {
    this.#running.add(operator);
    this.#busy++;
  }

  #serve(): void {
    const place = this.#waiting.findIndex(({ operator }) => this.#mayBegin(operator));
    const [next] = place === -1 ? [] : this.#waiting.splice(place, 1);
    if (!next) return;
    this.#begin(next.operator);
    next.begin();
  }
}

/**
 * Makes the handlers of routes that are added later wait for their turns. A turn lasts until the handler has returned, even if
 * the client has gone, because its statement goes on.
 */
export function takeTurns(app: App): void {
  const turns = new OperatorTurns();
  app.addHook("onRoute", (route) => {
    const { handler, config } = route;
    if (config?.takesNoTurn ?? config?.answersWithoutDatabase) return;
    route.handler = (request, reply) =>
      turns.run(operatorOf(request), () => handler.call(app, request, reply));
  });
}
