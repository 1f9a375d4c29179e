import { OPERATOR_ROLES, type OperatorRole } from "../domain/operator-role.ts";
import type { KeyRing, SealingKey } from "../domain/sealed-secret.ts";
import type { OperatorToken } from "../domain/operator-role.ts";
import { Environment, type Format } from "./environment.ts";
import { operatorUrl } from "./formats.ts";

const LIST_MAX = 32;

const ADMIN_TOKEN = new RegExp(
  `^(?:([A-Za-z0-9_.-]{1,64})(?:/(${OPERATOR_ROLES.join("|")}))?:)?([!-9;-~]{32,512})$`,
);

const adminToken: Format<{ name: string | undefined; role: OperatorRole; token: string }> = {
  parse: (text) => {
    const [, name, role = "operate", token] = ADMIN_TOKEN.exec(text) ?? [];
    return token === undefined ? null : { name, role: role as OperatorRole, token };
  },
  mustBe:
    `token, name:token or name/role:token, where role is one of ${OPERATOR_ROLES.join(", ")}, ` +
    "the token 32 to 512 visible ASCII characters without a colon",
};

/** Reads the operators' tokens. A single one needs no name. */
export function readAdminTokens(env: Environment): OperatorToken[] | null {
  const entries = env.list("ADMIN_TOKEN", adminToken, LIST_MAX);
  if (entries === null) return null;

  const tokens = entries.map(({ name = "operator", ...entry }) => ({ name, ...entry }));
  const isAnyUnnamed = entries.some(({ name }) => name === undefined);
  if (entries.length > 1 && isAnyUnnamed) {
    env.fault("ADMIN_TOKEN", "must name every token when there are several");
  } else {
    env.differ("ADMIN_TOKEN", "a name", tokens, "name");
  }
  env.differ("ADMIN_TOKEN", "a token", tokens, "token");
  return tokens;
}

const operatorToken: Format<string> = {
  parse: (text) => (/^[!-9;-~]{32,512}$/.test(text) ? text : null),
  mustBe: "only the token: 32 to 512 visible ASCII characters, without a name or a role",
};

/** Reads the URL of the service that commands use, and its token. */
export function readOperatorApi(env: Environment): { url: string; token: string } | null {
  const url = env.value("PARTNER_API_URL", operatorUrl, null);
  const token = env.value("PARTNER_API_TOKEN", operatorToken, null);
  env.rule(
    (url === null) === (token === null),
    ["PARTNER_API_URL", "PARTNER_API_TOKEN"],
    "and PARTNER_API_TOKEN must both be set, or neither",
  );
  return url === null || token === null ? null : { url, token };
}

/** Parses the file `admin-token`, which is written like the variable. Returns null if it is damaged or empty. */
export function parseAdminTokens(text: string): OperatorToken[] | null {
  const env = new Environment({ ADMIN_TOKEN: text });
  const tokens = readAdminTokens(env);
  return env.faults.length === 0 ? tokens : null;
}

const sealingKey: Format<SealingKey> = {
  parse: (text) => {
    const [, id, key] = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=?)$/.exec(text) ?? [];
    return id === undefined || key === undefined ? null : { id, key: Buffer.from(key, "base64") };
  },
  mustBe: "id:key, the id of 1 to 32 letters, digits, _ and -, the key 32 bytes in base64",
};

export function readSealingKeys(env: Environment): KeyRing | null {
  const keys = env.list("SEALING_KEYS", sealingKey, LIST_MAX) ?? [];
  env.differ("SEALING_KEYS", "an id", keys, "id");
  const [newest, ...older] = keys;
  return newest === undefined ? null : [newest, ...older];
}

/** Parses the file `sealing-keys`: the keys are on lines of their own, or separated as in the variable. Null if it is damaged or empty. */
export function parseSealingKeys(text: string): KeyRing | null {
  const env = new Environment({ SEALING_KEYS: text.trim().replaceAll(/\s*\n\s*/g, ",") });
  const ring = readSealingKeys(env);
  return env.faults.length === 0 ? ring : null;
}
