import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { answer } from "../support/answer.ts";

let requests = 0;

/** Accepts spans over OTLP/HTTP, and does not read them, because it shares the cores with their sender. */
const questions = {
  start: async (): Promise<string> => {
    const server = createServer((request, response) => {
      requests++;
      request.resume().once("end", () => response.end());
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  },
  requests: () => requests,
};

export type Collector = typeof questions;
answer(questions);
