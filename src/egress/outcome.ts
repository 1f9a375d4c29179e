import { codeOf } from "../lib/objects.ts";

/** What a failure's `detail` may be, for each reason. Codes may be added. None changes its meaning. */
export const DETAILS = {
  timeout: ["look_up", "connect", "handshake", "request", "response"],
  dns_error: ["no_such_name", "no_address", "name_servers_failed", "look_up_timed_out"],
  address_not_public: [],
  connection_refused: [],
  connection_reset: ["before_request", "after_request"],
  tls_error: [
    ...["certificate_expired", "certificate_not_yet_valid", "name_mismatch", "self_signed"],
    ...["incomplete_chain", "unknown_authority", "certificate_purpose"],
    ...["client_certificate_required", "protocol_version", "no_shared_parameters"],
    ...["not_tls", "alert", "handshake_failed"],
  ],
  network_error: [],
  protocol_error: [
    ...["not_http", "http2_only", "http_version", "headers_too_large", "malformed_headers"],
  ],
} as const;

/** Why a receiver was not reached, or did not answer in HTTP. */
export type FailureReason = keyof typeof DETAILS;
export type FailureDetail = (typeof DETAILS)[FailureReason][number];

/** What a post was doing. */
export type Phase = (typeof DETAILS)["timeout"][number];

/**
 * The conditions on our side that stop a post. A receiver, its name or its URL cannot cause one. If an error has two possible causes,
 * our own side must confirm the fault. `unexpected` is an exception that nobody foresaw, and `stopping` the end of this process' posts.
 */
export type Fault =
  "no_resolver" | "no_descriptors" | "no_ports" | "no_route" | "unexpected" | "stopping";

/** The result of a post. `deferred`: there was no room for it at the moment. `detail` is null if there is nothing to add. */
export type Outcome =
  | { kind: "answered"; httpStatus: number }
  | { kind: "unreachable"; reason: FailureReason; detail: FailureDetail | null }
  | { kind: "internal-fault"; fault: Fault; error?: unknown }
  | { kind: "deferred" };

/** Ends a post at any point. */
export class PostFailed extends Error {
  readonly outcome: Outcome;

  constructor(outcome: Outcome, cause?: unknown) {
    super(outcome.kind, { cause });
    this.name = "PostFailed";
    this.outcome = outcome;
  }
}

export function unreachable<Reason extends FailureReason>(
  reason: Reason,
  detail: (typeof DETAILS)[Reason][number] | null = null,
): Outcome {
  return { kind: "unreachable", reason, detail };
}

export function internalFault(fault: Fault): Outcome {
  return { kind: "internal-fault", fault };
}

export const DEFERRED: Outcome = { kind: "deferred" };
export const NETWORK_ERROR = unreachable("network_error");
const NO_DESCRIPTORS = ["EMFILE", "ENFILE", "ENOBUFS", "ENOMEM"];
const RESETS = ["ECONNRESET", "ECONNABORTED", "EPIPE"];

/** The certificate is at fault (X509_verify_cert_error_string, and Node.js' own check of the name). */
const BY_CERTIFICATE: Readonly<Record<string, FailureDetail & TlsDetail>> = {
  CERT_HAS_EXPIRED: "certificate_expired",
  CERT_NOT_YET_VALID: "certificate_not_yet_valid",
  ERR_TLS_CERT_ALTNAME_INVALID: "name_mismatch",
  DEPTH_ZERO_SELF_SIGNED_CERT: "self_signed",
  // The receiver sent one certificate alone, and its issuer is none of our authorities.
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "incomplete_chain",
  UNABLE_TO_GET_ISSUER_CERT: "unknown_authority",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "unknown_authority",
  SELF_SIGNED_CERT_IN_CHAIN: "unknown_authority",
  INVALID_PURPOSE: "certificate_purpose",
};

type TlsDetail = (typeof DETAILS)["tls_error"][number];

/** Alerts are errors of OpenSSL from this number on. Their names differ between its versions, and their numbers do not (RFC 8446, 6). */
const ALERTS_FROM = 1_000;
const HANDSHAKE_FAILURE = 40;
const PROTOCOL_VERSION = 70;
const INSUFFICIENT_SECURITY = 71;
const NO_APPLICATION_PROTOCOL = 120;
/** handshake_failure, no_certificate, bad_certificate, certificate_required. We send no certificate, so these ask for one. */
const ASKS_FOR_CERTIFICATE = [HANDSHAKE_FAILURE, 41, 42, 116];

/** Errors of OpenSSL about what the receiver sent (SSL_R_… in sslerr.h). */
const BY_NUMBER = new Map<number, TlsDetail>([
  [156, "not_tls"], // http request
  [198, "not_tls"], // packet length too long
  [267, "not_tls"], // wrong version number
  [248, "no_shared_parameters"], // unknown cipher returned
  [261, "no_shared_parameters"], // wrong cipher returned
  [378, "no_shared_parameters"], // wrong curve
  [258, "protocol_version"], // unsupported protocol
  [266, "protocol_version"], // wrong ssl version
]);

/**
 * Returns the outcome if this error ended the post. `version` is the TLS version of the socket. Until the receiver has chosen one, it is
 * the newest.
 */
export function outcomeOfError(error: unknown, phase: Phase, version?: string | null): Outcome {
  const code = codeOf(error);
  if (NO_DESCRIPTORS.includes(code)) return internalFault("no_descriptors");
  if (code === "ECONNREFUSED") return unreachable("connection_refused");
  if (code === "ETIMEDOUT") return unreachable("timeout", phase);
  if (RESETS.includes(code)) return resetIn(phase);
  if (phase === "handshake" || code.startsWith("ERR_SSL_") || code === "EPROTO")
    return outcomeOfTls(error, code, phase, version);
  return NETWORK_ERROR;
}

export function resetIn(phase: Phase): Outcome {
  return unreachable("connection_reset", phase === "response" ? "after_request" : "before_request");
}

function outcomeOfTls(
  error: unknown,
  code: string,
  phase: Phase,
  version: string | null | undefined,
): Outcome {
  const detail = BY_CERTIFICATE[code];
  if (detail !== undefined) return unreachable("tls_error", detail);
  const number = numberOf(error);
  const alert = number - ALERTS_FROM;
  if (alert === NO_APPLICATION_PROTOCOL) return unreachable("protocol_error", "http2_only");
  if (alert === PROTOCOL_VERSION) return unreachable("tls_error", "protocol_version");
  // TLS 1.2 asks within the handshake, and TLS 1.3 after it.
  const mayAsk = phase !== "handshake" || version === "TLSv1.2";
  if (mayAsk && ASKS_FOR_CERTIFICATE.includes(alert))
    return unreachable("tls_error", "client_certificate_required");
  if (alert === HANDSHAKE_FAILURE || alert === INSUFFICIENT_SECURITY)
    return unreachable("tls_error", "no_shared_parameters");
  if (alert >= 0) return unreachable("tls_error", "alert");
  return unreachable("tls_error", BY_NUMBER.get(number) ?? "handshake_failed");
}

/** Returns OpenSSL's number of an error, from a message such as `…:error:0A000410:SSL routines:…`. */
function numberOf(error: unknown): number {
  const [, digits] = /:error:0A([0-9A-F]{6}):/.exec((error as Error).message) ?? [];
  return digits === undefined ? 0 : parseInt(digits, 16);
}
