export const OPERATOR_ROLES = ["operate", "read", "publish"] as const;

/** What an operator token may do: everything, `GET` alone, or what services that publish events need. */
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** Whether a role may call a route. `servesPublishers` is what the route declares of itself. */
export function mayCall(
  role: OperatorRole,
  { method, servesPublishers }: { method: string; servesPublishers: boolean },
): boolean {
  switch (role) {
    case "operate":
      return true;
    case "read":
      return method === "GET";
    case "publish":
      return servesPublishers;
  }
}
