import { answer } from "../support/answer.ts";
import { pace } from "../support/pace.ts";
import { saturate } from "../support/saturate.ts";

/** Sends HTTP requests from a process of its own, so that it does not slow down the service's event loop. */
const questions = { saturate, pace };

export type Load = typeof questions;
answer(questions);
