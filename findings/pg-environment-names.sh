#!/usr/bin/env bash
# pg 8.23.1 (node-postgres) on any Node.js.
# One would expect that it reads libpq's variables by libpq's names, and no others: the client encoding from PGCLIENTENCODING.
# It reads PGCLIENT_ENCODING, which libpq does not know, ignores PGCLIENTENCODING, and turns a variable PGREPLICATION, which libpq
# does not know either, into a start-up packet that asks for a replication connection.
# Seen:
#   client_encoding: SQL_ASCII
#   replication in the start-up packet: database
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts pg@8.23.1

seen=$(PGCLIENTENCODING=LATIN1 PGCLIENT_ENCODING=SQL_ASCII PGREPLICATION=database node -e '
  const { Client } = require("pg");
  const client = new Client({ host: "127.0.0.1", user: "u", database: "d" });
  console.log(`client_encoding: ${client.connectionParameters.client_encoding}`);
  console.log(`replication in the start-up packet: ${client.getStartupConf().replication}`);')
node -p '"pg " + require("pg/package.json").version'
echo "$seen"
expected=$'client_encoding: SQL_ASCII\nreplication in the start-up packet: database'
[[ $seen == "$expected" ]]
