import type { AdmissionRow } from "../postgres/admission.ts";

/** A token as a request presents it. */
export interface Presented {
  keyId: string;
  /** In hex. */
  secretHash: string;
}

/** A key that admits its request. `place` is the request's number in its organization's window, from 1. */
export interface Admitted {
  key: AdmissionRow;
  place: number;
  openedAt: Date;
}
