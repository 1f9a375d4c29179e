#!/usr/bin/env bash
# node (npm) 20.19.5 and 24.14.0: TLSSocket#getProtocol() in a handshake
#
# Expected: until the server has chosen a version there is none, so getProtocol() returns null or "unknown".
#
# What happens: it returns the newest version that the client offers. "TLSv1.3" after an alert means either that the server has chosen
# TLS 1.3 or that it has not read the ClientHello. Only "TLSv1.2" proves a ServerHello. After an error of the certificate it is the other
# way round: the server has chosen, and getProtocol() returns null, because the socket is destroyed before the event.
#
# Seen, with both versions:
#   alert in place of a ServerHello: TLSv1.3
#   certificate that signs itself: null
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$folder/key" -out "$folder/cert" \
  -subj /CN=localhost -days 30 2>"$folder/openssl.log" || { cat "$folder/openssl.log"; exit 1; }
for version in 20.19.5 24.14.0; do
  mkdir "$folder/$version"
  npm install --prefix "$folder/$version" --no-audit --no-fund --loglevel=error "node@$version" >"$folder/npm.log" 2>&1 ||
    { cat "$folder/npm.log"; exit 1; }
done

cat >"$folder/protocol.cjs" <<'PROGRAM'
const { readFileSync } = require("node:fs");
const net = require("node:net");
const tls = require("node:tls");
const [key, cert] = ["key", "cert"].map((name) => readFileSync(`${__dirname}/${name}`));
const refusing = net.createServer((socket) => {
  socket.on("error", () => undefined).once("data", () => socket.end(Buffer.from([21, 3, 3, 0, 2, 2, 40])));
});
const selfSigned = tls.createServer({ key, cert }).on("tlsClientError", () => undefined);
const show = (what, server) =>
  new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const socket = tls.connect({ host: "127.0.0.1", port: server.address().port, servername: "localhost" });
      socket.on("error", () => {
        console.log(`${what}: ${socket.getProtocol()}`);
        server.close(resolve);
      });
    });
  });
show("alert in place of a ServerHello", refusing).then(() => show("certificate that signs itself", selfSigned));
PROGRAM

for version in 20.19.5 24.14.0; do
  "$folder/$version/node_modules/node/bin/node" --version
  "$folder/$version/node_modules/node/bin/node" "$folder/protocol.cjs" | tee "$folder/seen"
  diff - "$folder/seen" <<'EXPECTED'
alert in place of a ServerHello: TLSv1.3
certificate that signs itself: null
EXPECTED
done
