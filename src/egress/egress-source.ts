/** The local addresses that deliveries are sent from. Null: the system chooses, for that family. */
export interface EgressSource {
  ipv4: string | null;
  ipv6: string | null;
}

export const ANY_SOURCE: EgressSource = { ipv4: null, ipv6: null };
