/** The limit of a request's line and headers together. */
export const HEAD_BYTES_MAX = 16 * 1024;
/** The limit of a body that publishes events. */
export const EVENTS_BYTES_MAX = 4 * 1024 * 1024;
export const BODY_BYTES_MAX = 64 * 1024;
