import { verify, verifySignature } from "@partner-api/webhook";
import receiver from "./fetch.mjs";

/** The example, the library's verdicts on the vectors in this runtime, and what it says of mistakes. */
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/mistakes") return Response.json(await mistakes(request, env));
    if (pathname !== "/vectors") return receiver.fetch(request, env);
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

async function mistakes(request, { PARTNER_SECRET: secret }) {
  const { headers } = request;
  const copy = request.clone();
  const body = await request.arrayBuffer();
  const say = (delivery) =>
    verify({ secret, headers, body, ...delivery }).then(
      ({ verdict }) => verdict,
      ({ message }) => message,
    );
  return {
    right: await say({}),
    request: await say({ headers: request }),
    promise: await say({ headers: Promise.resolve(headers) }),
    pairs: await say({ headers: [...headers] }),
    stream: await say({ body: copy.body }),
    parsed: await say({ body: await copy.json() }),
    blob: await say({ body: new Blob([body]) }),
    secret: await say({ secret: `${secret}\n` }),
  };
}
