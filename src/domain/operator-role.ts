export const OPERATOR_ROLES = ["operate", "read", "publish"] as const;

/** The rights of an operator token. `operate`: all routes. `read`: GET. `publish`: the routes that publishers need. */
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

export interface OperatorToken {
  /** Its holder's name in the log. */
  name: string;
  role: OperatorRole;
  token: string;
}

/** Returns true if a role may call a route. The route declares `serves…`. */
export function mayCall(
  role: OperatorRole,
  {
    method,
    servesPublishers,
    servesReaders,
  }: { method: string; servesPublishers: boolean; servesReaders: boolean },
): boolean {
  switch (role) {
    case "operate":
      return true;
    case "read":
      return method === "GET" || servesReaders;
    case "publish":
      return servesPublishers;
  }
}

/** Returns true if a token of this role may start a session in the console. */
export function maySignIn(role: OperatorRole): boolean {
  return role !== "publish";
}
