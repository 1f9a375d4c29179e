export const OPERATOR_ROLES = ["operate", "read", "publish"] as const;

/** What an operator token may do: everything, `GET` alone, or what services that publish events need. */
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** Whether a role may call a route. `serves…` is what the route declares of itself. */
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

/** Whether a token of this role may begin a session in the console. */
export function maySignIn(role: OperatorRole): boolean {
  return role !== "publish";
}
