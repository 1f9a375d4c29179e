#!/usr/bin/env bash
# amqplib 2.3.1 on npm, with RabbitMQ 3.10 of Debian 12: a virtual host that does not exist.
#
# One would expect: the error has what the broker says, "NOT_ALLOWED - vhost nowhere not found", as the error for a wrong password does.
# What happens: the client waits for one method, gets `connection.close` in place of it, and names only the two. The reason and its code
# are dropped, so a program cannot tell a missing virtual host from one that the user may not enter.
# Output seen: "password: Handshake terminated by server: 403 (ACCESS-REFUSED) with message "ACCESS_REFUSED - Login was refused …",
# "virtual host: Expected ConnectionOpenOk; got <ConnectionClose channel:0>".
set -euo pipefail

[[ -x /usr/lib/rabbitmq/bin/rabbitmq-server ]] || { echo "install Debian's rabbitmq-server first" >&2; exit 2; }
folder=$(mktemp -d)
broker=
mapper=
end() {
  for pid in "$broker" "$mapper"; do
    if [[ -n "$pid" ]]; then
      kill "$pid" 2>/dev/null || true
      wait "$pid" || true
    fi
  done
  rm -rf "$folder"
}
trap end EXIT
cd "$folder"
mkdir home
read -r port distribution ERL_EPMD_PORT < <(node -e '
  const { createServer } = require("net");
  const servers = [1, 2, 3].map(() => createServer().listen(0, "127.0.0.1"));
  setTimeout(() => {
    console.log(...servers.map((server) => server.address().port));
    for (const server of servers) server.close();
  }, 100);')
export HOME=$folder/home ERL_EPMD_PORT ERL_EPMD_ADDRESS=127.0.0.1
export RABBITMQ_NODENAME=finding-$port@localhost RABBITMQ_NODE_IP_ADDRESS=127.0.0.1 RABBITMQ_NODE_PORT=$port
export RABBITMQ_DIST_PORT=$distribution RABBITMQ_MNESIA_BASE=$folder/data RABBITMQ_LOG_BASE=$folder/log
export RABBITMQ_CONFIG_FILE=$folder/none RABBITMQ_ENABLED_PLUGINS_FILE=$folder/plugins RABBITMQ_CONF_ENV_FILE=$folder/none
export RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="-kernel inet_dist_use_interface {127,0,0,1}"
epmd &
mapper=$!
/usr/lib/rabbitmq/bin/rabbitmq-server >/dev/null &
broker=$!

npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error amqplib@2.3.1
cat >open.mjs <<'JS'
import { connect } from "amqplib";
import { setTimeout as sleep } from "node:timers/promises";

const why = (url) => connect(url).then(() => "opened", (error) => error.message);
const place = `127.0.0.1:${process.argv[2]}`;
while ((await why(`amqp://guest:guest@${place}`)) !== "opened") await sleep(500);
const password = await why(`amqp://guest:wrong@${place}`);
const host = await why(`amqp://guest:guest@${place}/nowhere`);
console.log("password:", password);
console.log("virtual host:", host);
process.exit(password.includes("ACCESS_REFUSED") && /^Expected ConnectionOpenOk/.test(host) ? 0 : 1);
JS
timeout 120 node open.mjs "$port"
