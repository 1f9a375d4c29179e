import { PartnerError, type Fault } from "./errors.ts";
import type { KeyId, OrganizationId } from "./ids.ts";

export const SCOPES = ["identity:read", "webhooks:manage"] as const;
export type Scope = (typeof SCOPES)[number];

/** Names reserved for later resource families. Keys cannot have them yet. */
export const RESERVED_SCOPES = [
  "leads:read",
  "leads:write",
  "intakes:read",
  "intakes:write",
  "records:read",
  "records:write",
  "skills:read",
  "skills:author",
  "skills:execute",
  "agents:invoke",
  "tenants:provision",
] as const;

/** The sender of the current request. */
export interface Caller {
  organizationId: OrganizationId;
  slug: string;
  keyId: KeyId;
  scopes: readonly Scope[];
  rateLimitPerMinute: number;
}

/** The scopes of a new key: the requested ones and always `identity:read`. */
export function grantScopes(requested: readonly string[]): Scope[] {
  const found = requested.flatMap((name, index) => faultOf(name, `/scopes/${index}`));
  const [worst] = found.toSorted((a, b) => RANK[a.code] - RANK[b.code]);
  const faults = found.map(({ pointer, detail }) => ({ pointer, detail }));
  if (worst) throw new PartnerError(worst.code, SENTENCES[worst.code], { faults });

  const granted = new Set<Scope>(["identity:read", ...(requested as Scope[])]);
  return SCOPES.filter((scope) => granted.has(scope));
}

const RANK = { unknown_scope: 0, reserved_scope: 1 };

const SENTENCES = {
  unknown_scope: "Unknown scope.",
  reserved_scope: "Reserved scope.",
} satisfies Record<keyof typeof RANK, string>;

function faultOf(name: string, pointer: string): (Fault & { code: keyof typeof RANK })[] {
  if (SCOPES.some((scope) => scope === name)) return [];
  if (RESERVED_SCOPES.some((scope) => scope === name)) {
    return [{ code: "reserved_scope", pointer, detail: "is reserved and cannot be granted yet" }];
  }
  return [{ code: "unknown_scope", pointer, detail: `must be one of ${SCOPES.join(", ")}` }];
}
