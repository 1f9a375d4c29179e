import assert from "node:assert/strict";
import { test } from "node:test";
import type { AddressPolicy } from "../../src/egress/address-policy.ts";
import { onConnect } from "../support/network.ts";
import { aPost, startSender, unreachable } from "../support/sender.ts";
import { URLS } from "../support/urls.ts";

const REFUSED = unreachable("address_not_public");
const NOBODY_THERE = unreachable("connection_refused");

/** The addresses of every name here. */
const ADDRESS = "93.184.215.14";

test("every URL is checked again at delivery, and connections go only to checked addresses", async (t) => {
  const { send, asked, dialled } = await anObservedSender(t, { allow: [], deny: [] });
  for (const { url, accepted, note } of URLS) {
    asked.length = dialled.length = 0;
    assert.deepEqual(await send(url), accepted ? NOBODY_THERE : REFUSED, note);
    assert.equal(dialled.length, accepted ? 1 : 0, note);
    if (!accepted) assert.deepEqual(asked, [], note);
    else {
      const { hostname, port } = new URL(url);
      const address = asked.length > 0 ? ADDRESS : hostname.replace(/^\[|\]$/g, "");
      assert.deepEqual(dialled, [{ host: address, port: Number(port || 443) }], note);
    }
  }
});

test("a denied block prevents any contact with every URL", async (t) => {
  const all = [0, 0, 0, 0] as const;
  const deny = ([4, 6] as const).map((family) => ({ family, network: all, mask: all }));
  const { send, dialled } = await anObservedSender(t, { allow: deny, deny });
  for (const { url, note } of URLS) assert.deepEqual(await send(url), REFUSED, note);
  assert.deepEqual(dialled, []);
});

/** A sender whose look-ups and connections are recorded. No connection is answered. */
async function anObservedSender(t: Parameters<typeof startSender>[0], policy: AddressPolicy) {
  const asked: string[] = [];
  const dialled: object[] = [];
  onConnect(t, (socket, { host, port }) => {
    dialled.push({ host, port });
    return socket.destroy(Object.assign(new Error("refused"), { code: "ECONNREFUSED" }));
  });
  const sender = await startSender(t, {
    policy,
    lookup: (host) => {
      asked.push(host);
      return Promise.resolve({ kind: "addresses", addresses: [ADDRESS] });
    },
  });
  return { asked, dialled, send: (url: string) => sender.send(aPost(url)) };
}
