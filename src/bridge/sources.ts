import type { Mapping } from "./event.ts";
import { kafkaSource } from "./kafka.ts";
import { outboxSource } from "./outbox/outbox.ts";
import { natsSource } from "./nats.ts";
import { rabbitMqSource } from "./rabbitmq.ts";
import { redisSource } from "./redis.ts";
import type { Settings } from "./settings.ts";
import type { OpenSource } from "./source.ts";
import { sqsSource } from "./sqs.ts";

interface ConfiguredSource {
  open: OpenSource;
  /** Where the members of an event come from if the configuration does not say. */
  defaults: Mapping;
}

/** Each reads its part of the configuration. */
export const SOURCES = {
  outbox: outboxSource,
  kafka: kafkaSource,
  rabbitmq: rabbitMqSource,
  nats: natsSource,
  redis: redisSource,
  sqs: sqsSource,
} satisfies Record<string, (settings: Settings) => ConfiguredSource>;

export type Kind = keyof typeof SOURCES;

export const KINDS = Object.keys(SOURCES) as [Kind, ...Kind[]];
