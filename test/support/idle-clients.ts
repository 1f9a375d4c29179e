import { once } from "node:events";
import { connect, type Socket } from "node:net";

/**
 * A program that opens connections to a port and does not use them. A third is silent, a third stops in a
 * request's head, and a third is idle after an answer. Sends its parent `open` when all are open, and
 * `closed` when the first two thirds are closed.
 */
const [port = 0, count = 0] = process.argv.slice(2).map(Number);
const AT_ONCE = 200;
const WORDS = [
  "",
  "GET /healthz HTTP/1.1\r\nHost: lo",
  "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
];

const unfinished: Promise<unknown>[] = [];
for (let opened = 0; opened < count; opened += AT_ONCE) {
  const some = Math.min(AT_ONCE, count - opened);
  await Promise.all(Array.from({ length: some }, (_, i) => open(WORDS[i % WORDS.length] ?? "")));
}
process.send?.("open");
await Promise.all(unfinished);
process.send?.("closed");

async function open(words: string): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.on("error", () => undefined);
  if (words !== "") socket.write(words);
  if (words === WORDS[2]) await once(socket, "data");
  else unfinished.push(once(socket.resume(), "close"));
  return socket;
}
