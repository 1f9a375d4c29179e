import { Busy } from "../lib/errors.ts";
import { Away, type Cell, type CellAnswer, type CellRequest } from "./cell.ts";

export const API = "/api/v1/admin";

/** What a cell says of a request that all cells got. */
export interface Part<Body> {
  cell: Cell;
  body: Body;
}

/** The answer of one cell, to be relayed as it is. */
export class Relayed extends Error {
  readonly cell: Cell;
  readonly answer: CellAnswer;

  constructor(cell: Cell, answer: CellAnswer) {
    super(`cell ${cell.name} answers with status ${answer.status}`);
    this.cell = cell;
    this.answer = answer;
  }
}

/** The cells, in the order of the configuration. */
export class Cells {
  readonly all: readonly [Cell, ...Cell[]];

  constructor(all: readonly [Cell, ...Cell[]]) {
    this.all = all;
  }

  named(name: string): Cell | undefined {
    return this.all.find((cell) => cell.name === name);
  }

  /**
   * Asks all cells at the same time, and returns what those say that have the thing. `unreachable` names those that do not
   * answer. Throws a refusal, or if no cell answers.
   */
  async gather<Body>(
    request: CellRequest,
  ): Promise<{ parts: Part<Body>[]; unreachable: string[] }> {
    const results = await Promise.allSettled(this.all.map((cell) => ask(cell, request)));
    const all = results.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const failures = results.flatMap((one) =>
      one.status === "rejected" ? [one.reason as unknown] : [],
    );
    const refusal = all.find(({ answer }) => answer.status >= 400 && answer.status !== 404);
    if (refusal) throw refusal;
    const found = all.filter(({ answer }) => answer.status < 400);
    const away = failures.filter((one) => one instanceof Away);
    if (found.length === 0 || away.length < failures.length)
      throw mostTelling([...failures, ...all]);
    const parts = found.map(({ cell, answer }) => ({ cell, body: read(answer) as Body }));
    return { parts, unreachable: namesOf(away) };
  }

  /** Asks all cells at the same time, and returns what the first one says that has the thing. */
  find(request: CellRequest): Promise<Relayed> {
    const tries = this.all.map(async (cell) => {
      const one = await ask(cell, request);
      if (one.answer.status === 404) throw one;
      return one;
    });
    return Promise.any(tries).catch((error: unknown) => {
      throw mostTelling((error as AggregateError).errors);
    });
  }

  /** Returns the cell that has a thing. If none has, returns one that answers, which refuses what is asked of it. */
  async having(id: string, headers: CellRequest["headers"]): Promise<Cell> {
    const path = `${API}/find/${encodeURIComponent(id === "" ? NOTHING : id)}`;
    try {
      return (await this.find({ method: "GET", path, headers })).cell;
    } catch (error) {
      if (error instanceof Relayed && error.answer.status === 404) return error.cell;
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((cell) => cell.close()));
  }
}

/** Nothing has this id. */
const NOTHING = "-";

async function ask(cell: Cell, request: CellRequest): Promise<Relayed> {
  return new Relayed(cell, await cell.read(request));
}

/** A defect tells the most. A cell that does not answer may have what the others lack. */
function mostTelling(failures: unknown[]): unknown {
  const away = failures.filter((one) => one instanceof Away);
  const defect = failures.find((one) => !(one instanceof Away || one instanceof Relayed));
  return defect ?? (away.length > 0 ? noAnswer(namesOf(away)) : failures[0]);
}

function namesOf(away: Away[]): string[] {
  return away.map(({ cell }) => cell).sort();
}

export function noAnswer(cells: string[], otherwise = "Try again."): Busy {
  return new Busy(`No answer from cell ${cells.join(", ")}. ${otherwise}`);
}

/** Reads a JSON answer. */
export function read({ body }: Pick<CellAnswer, "body">): unknown {
  return body.length === 0 ? {} : JSON.parse(body.toString());
}
