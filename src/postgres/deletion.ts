/** Expired rows that one statement deletes. More would block other statements for long. */
export const DELETED_MAX = 5_000;
