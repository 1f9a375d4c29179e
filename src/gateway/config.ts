import { findUnfollowed } from "../config/fleet.ts";
import {
  allowedHost,
  baseUrl,
  duration,
  Environment,
  type Format,
  host,
  integer,
  LOG_LEVELS,
  oneOf,
  readAdminTokens,
} from "../config/settings.ts";
import type { OperatorToken } from "../subjects/operators/rules.ts";

/** The settings of the gateway. Those that the service has too mean the same. */
export interface GatewayConfig {
  /** The first one reserves the slugs. */
  readonly cells: readonly [CellAddress, ...CellAddress[]];
  readonly operatorHost: string;
  readonly operatorPort: number;
  readonly allowedHosts: string[];
  /** The partners' URL, in the types of problems. */
  readonly baseUrl: string;
  readonly adminTokens: OperatorToken[];
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly drainMs: number;
  readonly shutdownGraceMs: number;
  /** A sentence for each variable of a fleet that the gateway does not follow. */
  readonly unfollowed: string[];
}

/** A cell and the URL of its operators' listener. */
interface CellAddress {
  name: string;
  url: string;
}

const CELLS_MAX = 64;

const cellAddress: Format<CellAddress> = {
  parse: (text) => {
    const [, name, written = ""] = /^([0-9a-z]{2})=(.*)$/s.exec(text) ?? [];
    const url = baseUrl.parse(written);
    return name === undefined || url === null ? null : { name, url };
  },
  mustBe: `name=url, the name two characters of 0-9 and a-z, the url ${baseUrl.mustBe}`,
  quotable: true,
};

/** Reads the whole configuration. Throws one error that names every fault in it, and no secret. */
export function loadGatewayConfig(variables: NodeJS.ProcessEnv): GatewayConfig {
  const env = new Environment(variables);
  const [first = NOWHERE, ...others] = env.list("CELLS", cellAddress, CELLS_MAX, /\s+/) ?? [];
  const cells = [first, ...others] as const;
  if (!env.isSet("ADMIN_TOKEN")) env.fault("ADMIN_TOKEN", "must be set, as the cells have it");
  if (!env.isSet("CELLS"))
    env.fault("CELLS", "must be set: name=url for each cell, with white space between them");
  env.differ("CELLS", "a name", [...cells], "name");
  env.differ("CELLS", "a URL", [...cells], "url");
  const adminTokens = readAdminTokens(env) ?? [];
  env.rule(
    adminTokens.length === 0 || adminTokens.some(({ role }) => role !== "publish"),
    ["ADMIN_TOKEN"],
    "must have a token with another role than publish, for the gateway's own requests",
  );
  const config: GatewayConfig = {
    cells,
    operatorHost: env.value("OPERATOR_HOST", host, "127.0.0.1"),
    operatorPort: env.value("OPERATOR_PORT", integer(0, 65_535), 8081),
    allowedHosts: env.list("ALLOWED_HOSTS", allowedHost, 100) ?? [],
    baseUrl: env.value("BASE_URL", baseUrl, ""),
    adminTokens,
    logLevel: env.value("LOG_LEVEL", oneOf(LOG_LEVELS), "info"),
    drainMs: env.value("DRAIN", duration("0s", "1h"), 0),
    shutdownGraceMs: env.value("SHUTDOWN_GRACE", duration("0s", "1h"), 15_000),
    unfollowed: findUnfollowed(variables, env.names),
  };
  if (env.faults.length > 0) throw new Error(`configuration:\n  ${env.faults.join("\n  ")}`);
  return config;
}

const NOWHERE: CellAddress = { name: "", url: "" };
