import type { Answer, Prepared, Row, Run } from "./statement.ts";

/**
 * Does some work in a transaction, over a connection that nobody else uses meanwhile. Where a statement fails or the work
 * throws, nothing of it is done, and no later statement is sent.
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

  /** One statement after the other. After one that failed, all others fail for the same reason. */
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
    await this.#ask({ text: "rollback" }).catch(() => undefined); // Then the server does so by itself.
  }
}
