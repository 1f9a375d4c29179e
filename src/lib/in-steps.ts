/** Finishes long work step by step. Between two steps the event loop serves others. */
export async function inSteps<Result>(work: Generator<undefined, Result>): Promise<Result> {
  let step = work.next();
  while (!step.done) {
    await new Promise(setImmediate);
    step = work.next();
  }
  return step.value;
}
