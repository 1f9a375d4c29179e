import assert from "node:assert/strict";
import { type Config, loadConfig } from "../../src/config/config.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** The configuration without any variable. */
export const defaults: Config = {
  cell: "00",
  databaseUrl: null,
  migrationDatabaseUrl: null,
  dataDir: ".data",
  host: "127.0.0.1",
  port: 8080,
  baseUrl: null,
  operatorHost: "127.0.0.1",
  operatorPort: 8081,
  allowedHosts: [],
  role: "all",
  workers: 1,
  adminTokens: null,
  sealingKeys: null,
  operatorApi: null,
  retryDelaysMs: [1, 5, 30, 120, 360, 1440].map((minutes) => minutes * MINUTE_MS),
  attemptTimeoutMs: 10_000,
  autoDisableAfter: 20,
  dispatchConcurrency: 512,
  subscriptionConcurrency: 256,
  maxSubscriptions: 100,
  egress: { allow: [], deny: [] },
  egressSource: { ipv4: null, ipv6: null },
  egressShown: [],
  contact: null,
  desk: { title: "Partner API", logo: null, accent: null },
  egressCaFile: null,
  dnsServers: null,
  eventTypes: null,
  eventTypesAnnotations: [],
  platformOrganization: null,
  retentionMs: 30 * DAY_MS,
  exportCommand: null,
  logLevel: "info",
  tracing: null,
  drainMs: 0,
  shutdownGraceMs: 15_000,
  misspelt: [],
  unread: [],
  unfollowed: [],
  platform: null,
  nodeCaFile: null,
};

/** The faults that stop the start, one to a line. */
export function faultsOf(env: NodeJS.ProcessEnv): string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    const [head, ...faults] = (error as Error).message.split("\n  ");
    assert.equal(head, "configuration:");
    return faults;
  }
}
