import type { Answer, Prepared, Row, Run } from "./statement.ts";

/**
 * Does work in a transaction, on one connection. If a statement fails or the work throws, rolls back and sends no further
 * statement.
 */
export async function transact<Result>(
  ask: Run,
  work: (run: Run) => PromiseLike<Result>,
  begin = "begin",
): Promise<Result> {
  const transaction = new Transaction(ask);
  try {
    await transaction.run({ text: begin });
    const result = await work((statement) => transaction.run(statement));
    await transaction.run({ text: "commit" });
    return result;
  } catch (error) {
    await transaction.rollBack();
    throw error;
  }
}

class Transaction {
  readonly #ask: Run;
  #last: Promise<unknown> = Promise.resolve();
  #isOver = false;

  constructor(ask: Run) {
    this.#ask = ask;
  }

  /** Runs statements one after the other. After one fails, the rest fail with the same error. */
  run(statement: Prepared): Promise<Answer<Row[]>> {
    if (this.#isOver) return Promise.reject(new Error("the transaction is over"));
    if (statement.text === "commit") this.#isOver = true;
    const answer = this.#last.then(() => this.#ask(statement));
    this.#last = answer;
    answer.catch(() => undefined);
    return answer;
  }

  async rollBack(): Promise<void> {
    this.#isOver = true;
    await this.#last.catch(() => undefined);
    await this.#ask({ text: "rollback" }).catch(() => undefined); // If this fails, the server rolls back by itself.
  }
}
