import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import tls from "node:tls";
import { generate } from "selfsigned";
import { trustedRoots } from "../../src/delivery/handshake.ts";

test("a receiver cannot choose the group of a finite-field key exchange", async (t) => {
  const { private: key, cert } = await generate([{ name: "commonName", value: "receiver" }], {
    keyType: "rsa",
    algorithm: "sha256",
  });
  const speaks = async (ciphers: string) => {
    const options = { key, cert, ciphers, dhparam: "auto", maxVersion: "TLSv1.2" } as const;
    const server = tls.createServer(options).listen(0, "127.0.0.1");
    t.after(() => server.close());
    await once(server, "listening");
    const socket = tls.connect({
      port: (server.address() as AddressInfo).port,
      host: "127.0.0.1",
      secureContext: trustedRoots(undefined),
      rejectUnauthorized: false, // Only the key exchange matters here.
    });
    t.after(() => socket.destroy());
    await once(socket, "secureConnect");
  };

  await speaks("ECDHE-RSA-AES128-GCM-SHA256");
  await assert.rejects(speaks("DHE-RSA-AES128-GCM-SHA256"), /handshake failure/);
});
