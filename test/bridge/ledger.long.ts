import { test } from "node:test";
import { assertBalanced, type OpenBroker, runLedger } from "./ledger.ts";
import { anOutboxBroker } from "./outbox-ledger.ts";
import { aKafkaBroker } from "./kafka-broker.ts";
import { aMariaDbBroker } from "./mysql-broker.ts";
import { aNatsBroker } from "./nats-broker.ts";
import { LONG } from "./plans.ts";
import { aRabbitMqBroker } from "./rabbitmq-broker.ts";
import { aRedisBroker } from "./redis-broker.ts";
import { anSqsBroker } from "./sqs-broker.ts";

const BROKERS: Record<string, OpenBroker> = {
  "outbox by rows": (afterwards) => anOutboxBroker(afterwards, "rows"),
  "outbox by replication": (afterwards) => anOutboxBroker(afterwards, "replication"),
  kafka: aKafkaBroker,
  rabbitmq: aRabbitMqBroker,
  nats: aNatsBroker,
  redis: aRedisBroker,
  sqs: anSqsBroker,
  mariadb: aMariaDbBroker,
};

for (const [name, open] of Object.entries(BROKERS)) {
  test(`${name}: 20,000 messages, each one event`, { timeout: 900_000 }, async (t) => {
    const plan = { ...LONG, seed: Math.floor(Math.random() * 2 ** 31) };
    const ledger = await runLedger(open, plan);
    t.diagnostic(
      JSON.stringify({ source: name, seed: plan.seed, messages: plan.messages, ...ledger }),
    );
    assertBalanced(ledger);
  });
}
