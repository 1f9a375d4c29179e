/** A request's line and headers together. */
export const HEAD_BYTES_MAX = 16 * 1024;
/** Of a request that publishes events. */
export const EVENTS_BYTES_MAX = 4 * 1024 * 1024;
export const BODY_BYTES_MAX = 64 * 1024;
