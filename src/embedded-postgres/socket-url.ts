/** A URL for the service, psql and everything else on libpq. */
export function socketUrl(folder: string): string {
  return `postgres://partner@${encodeURIComponent(folder)}:5432/partner`;
}
