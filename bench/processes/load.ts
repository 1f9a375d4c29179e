import { answer } from "../support/answer.ts";
import { pace } from "../support/pace.ts";
import { saturate } from "../support/saturate.ts";

/** Sends HTTP requests in another process, so that it does not slow down the service's event loop. */
const questions = { saturate, pace };

export type Load = typeof questions;
answer(questions);
