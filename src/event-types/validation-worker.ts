import { parentPort, workerData } from "node:worker_threads";
import type { Fault } from "../lib/errors.ts";
import { createFinder } from "./compile.ts";
import type { Folder, Message } from "./validation-thread.ts";

const { definitions, annotations } = workerData as Folder;
const finder = createFinder(definitions, annotations);
const known = new Map<string, (data: unknown) => Fault[]>();
const say = (message: Message) => parentPort?.postMessage(message);

parentPort?.on("message", ({ type, text }: { type: string; text: string }) => {
  void finder.then((find) => {
    const faultsOf = known.get(type) ?? find(type);
    known.set(type, faultsOf);
    say("begun");
    say({ faults: faultsOf(JSON.parse(text)) });
  });
});
