import assert from "node:assert/strict";
import { once } from "node:events";
import { test, type TestContext } from "node:test";
import { connect } from "node:tls";
import { type ReceiverOptions, startReceiver } from "../../src/listen/receiver.ts";
import { makeLocalCertificates } from "../../src/listen/self-signed.ts";

const certificates = await makeLocalCertificates(new Date());

async function aReceiver(t: TestContext, options: ReceiverOptions = {}) {
  const receiver = await startReceiver(certificates, () => ({ status: 204, delayMs: 0 }), options);
  t.after(() => receiver.close());
  return { ...receiver, port: Number(new URL(receiver.url).port) };
}

test("a sender that distrusts the certificate or speaks HTTP is reported", async (t) => {
  let told: (code: string | null) => void = () => undefined;
  const { port } = await aReceiver(t, { onNoRequest: (code) => told(code) });
  const next = () => new Promise<string | null>((resolve) => (told = resolve));

  const distrust = next();
  const socket = connect({ port, host: "127.0.0.1", servername: "localhost" });
  await once(socket, "error");
  assert.match(String(await distrust), /null|ECONNRESET/);

  const plain = next();
  await assert.rejects(fetch(`http://127.0.0.1:${port}/`));
  assert.equal(await plain, "ERR_SSL_HTTP_REQUEST");
});

test("an aborted request is not a delivery, and the receiver continues", async (t) => {
  const { port } = await aReceiver(t);
  const secure = async () => {
    const socket = connect({
      port,
      host: "127.0.0.1",
      servername: "localhost",
      ca: certificates.ca,
    });
    await once(socket, "secureConnect");
    return socket;
  };
  const broken = await secure();
  broken.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf");
  broken.destroy();

  const whole = await secure();
  whole.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nwhole");
  const [answer] = (await once(whole, "data")) as [Buffer];
  assert.match(answer.toString(), /^HTTP\/1\.1 204 /);
  whole.destroy();
});
