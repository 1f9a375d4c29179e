/** A URL for our driver and for libpq, psql included. */
export function socketUrl(folder: string): string {
  return `postgres://partner@${encodeURIComponent(folder)}:5432/partner`;
}
