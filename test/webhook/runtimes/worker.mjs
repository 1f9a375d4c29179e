import { verifySignature } from "@partner-api/webhook";
import receiver from "./fetch.mjs";

/** The example and a path that returns the library's verdicts on the vectors in this runtime. */
export default {
  async fetch(request, env) {
    if (new URL(request.url).pathname !== "/vectors") return receiver.fetch(request, env);
    const { cases } = await request.json();
    return Response.json(await Promise.all(cases.map(verdictOf)));
  },
};

function verdictOf({ secrets, headers, body, repeat, now }) {
  const piece = Uint8Array.from(atob(body), (letter) => letter.charCodeAt(0));
  const whole = new Uint8Array(piece.length * repeat);
  for (let i = 0; i < repeat; i++) whole.set(piece, i * piece.length);

  const lists = {};
  for (const [name, value] of headers) (lists[name] ??= []).push(value);
  return verifySignature({ secret: secrets, headers: lists, body: whole, now });
}
