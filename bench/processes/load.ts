import { answer } from "../support/answer.ts";
import { pace } from "../support/pace.ts";
import { saturate } from "../support/saturate.ts";

/** Offers HTTP requests to a service, in a process of its own so that neither slows the other's event loop. */
const questions = { saturate, pace };

export type Load = typeof questions;
answer(questions);
