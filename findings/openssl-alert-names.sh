#!/usr/bin/env bash
# node (npm) 20.19.5 and 24.14.0: the `code` of an error that is a TLS alert
#
# Expected: an alert has one `code`, whichever version of Node.js receives it, as ECONNRESET has.
#
# What happens: the code is made from OpenSSL's text, and OpenSSL 3.5 tells the alert handshake_failure (40) in other words than 3.0.
# Node.js 20 calls it ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE, and Node.js 24 ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE, with a slash in it.
# The alert certificate_required (116) has the same name in both. The number in the message, `error:0A000410`, does not change: it is 1,000
# plus the number of the alert (RFC 8446, 6).
#
# Seen:
#   v20 ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE 0A000410
#   v24 ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE 0A000410
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for version in 20.19.5 24.14.0; do
  mkdir "$folder/$version"
  npm install --prefix "$folder/$version" --no-audit --no-fund --loglevel=error "node@$version" >"$folder/npm.log" 2>&1 ||
    { cat "$folder/npm.log"; exit 1; }
done

cat >"$folder/alert.cjs" <<'PROGRAM'
// A peer that answers a ClientHello with the alert handshake_failure, as servers do that share no cipher with their client.
const { createServer } = require("node:net");
const tls = require("node:tls");
const server = createServer((socket) => {
  socket.on("error", () => undefined).once("data", () => socket.end(Buffer.from([21, 3, 3, 0, 2, 2, 40])));
});
server.listen(0, "127.0.0.1", () => {
  tls.connect({ host: "127.0.0.1", port: server.address().port }).on("error", ({ code, message }) => {
    console.log(process.version.split(".")[0], code, /error:([0-9A-F]{8}):/.exec(message)[1]);
    server.close();
  });
});
PROGRAM

for version in 20.19.5 24.14.0; do
  "$folder/$version/node_modules/node/bin/node" "$folder/alert.cjs"
done | tee "$folder/seen"

diff - "$folder/seen" <<'EXPECTED'
v20 ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE 0A000410
v24 ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE 0A000410
EXPECTED
