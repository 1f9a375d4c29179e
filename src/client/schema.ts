// Made from the OpenAPI document by `npm run client-types`.

export interface paths {
  "/api/v1/partner/me": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Check a key
     * @description Returns the organization, id, scopes and rate limit of the calling key. Every active key may call it, so it serves as the health check of an integration.
     */
    get: operations["getIdentity"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/partner/webhooks": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List subscriptions
     * @description All subscriptions of the organization, newest first, including auto-disabled ones. We do not notify you of auto-disabling: check `active` and `auto_disabled_at`.
     */
    get: operations["listSubscriptions"];
    put?: never;
    /**
     * Subscribe a URL to events
     * @description Events are delivered to the URL from now on. The response contains the signing secret, which is shown only once. To rotate a secret, subscribe the same URL a second time.
     */
    post: operations["createSubscription"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/partner/webhooks/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    /**
     * Delete a subscription
     * @description Cancels its queued deliveries and erases its secret.
     */
    delete: operations["deleteSubscription"];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/partner/webhooks/{id}/test": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Send a test event
     * @description Sends a `vc.test.ping` event through the pipeline of every other event: it is signed, retried on the schedule, and listed in the failures audit if an attempt fails.
     */
    post: operations["sendTestEvent"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/partner/webhooks/{id}/failures": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Read the failures audit
     * @description Every failed attempt of the subscription's deliveries, newest first. The attempt that dead-lettered its delivery has the status `dead_lettered`.
     */
    get: operations["listFailures"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    /** @description The event is stored and will be delivered. */
    AcceptedEvent: {
      /** @description `evt_<uuid>`, the `id` of the envelope */
      event_id: string;
      /** @description Always true. If the event cannot be stored, the response is an error. */
      enqueued: boolean;
    };
    /** @enum {string} */
    EventTypeName: "vc.test.ping";
    /**
     * @description A failed attempt.
     * @example {
     *       "id": "att_019bd1f2-1c00-7000-8a5b-2f9b1c3d4e5f",
     *       "subscription_id": "wh_0b6e9f3c-58c1-4d0e-9c0f-3f8a6f0f2b11",
     *       "event_id": "evt_019bd1f1-0a00-7000-9b1c-5d6e7f809a1b",
     *       "event_type": "vc.test.ping",
     *       "attempt": 3,
     *       "status": "failed",
     *       "http_status": 503,
     *       "reason": "http_503",
     *       "detail": null,
     *       "duration_ms": 41,
     *       "attempted_at": "2026-01-31T09:36:00.000Z",
     *       "next_attempt_at": "2026-01-31T10:06:00.041Z"
     *     }
     */
    Failure: {
      /** @description `att_<uuid>` */
      id: string;
      /** @description `wh_<uuid>` */
      subscription_id: string;
      /** @description `evt_<uuid>`, as in the envelope */
      event_id: string;
      /** @description `event` of the envelope */
      event_type: string;
      /** @description The first attempt of a delivery is number 1. */
      attempt: number;
      /** @enum {string} */
      status: "failed" | "dead_lettered";
      /** @description The status that the receiver returned; 0 if it returned none. */
      http_status: number;
      /** @description `http_<status>`, or why there was no status: `timeout`, `dns_error`, `address_not_public`, `connection_refused`, `connection_reset`, `tls_error`, `network_error`, `protocol_error`, `interrupted`. */
      reason: string;
      /** @description What there is to add to the reason; null if nothing. [Causes](/docs/troubleshooting#causes) explains `look_up`, `connect`, `handshake`, `request`, `response`, `no_such_name`, `no_address`, `name_servers_failed`, `look_up_timed_out`, `before_request`, `after_request`, `certificate_expired`, `certificate_not_yet_valid`, `name_mismatch`, `self_signed`, `incomplete_chain`, `unknown_authority`, `certificate_purpose`, `client_certificate_required`, `protocol_version`, `no_shared_parameters`, `not_tls`, `alert`, `handshake_failed`, `not_http`, `http2_only`, `http_version`, `headers_too_large`, `malformed_headers`. */
      detail: string | null;
      /** @description The duration of the attempt. */
      duration_ms: number;
      /**
       * Format: date-time
       * @description ISO 8601, UTC, with milliseconds.
       */
      attempted_at: string;
      /**
       * Format: date-time
       * @description When the next attempt was due; null if there was none. A later cancellation does not change it.
       */
      next_attempt_at: string | null;
    };
    /** @description Failed attempts, newest first. */
    FailuresPage: {
      /** @description At most `limit` items. */
      items: components["schemas"]["Failure"][];
      /** @description The cursor of the next page; null on the last page. */
      next_cursor: string | null;
    };
    /** @description One fault of a request. */
    Fault: {
      /**
       * Format: json-pointer
       * @description The place of the fault in the body or the query.
       */
      pointer: string;
      /** @description What is wrong there. */
      detail: string;
    };
    /** @description The organization, id, scopes and rate limit of the key. */
    Identity: {
      /** @description The organization's slug. */
      partner_org: string;
      /** @description The public half of the key that was used. */
      key_id: string;
      /** @description The key's scopes; always contain `identity:read`. */
      scopes: string[];
      /** @description All keys of the organization share it. */
      rate_limit_per_minute: number;
    };
    /** @description The subscription with its signing secret. */
    NewSubscription: {
      /** @description `wh_<uuid>` */
      id: string;
      /** @description `org_<uuid>` */
      organization_id: string;
      /** @description The https URL that receives deliveries, as it was submitted. */
      url: string;
      /** @description The event types that are delivered to the URL. */
      events: string[];
      /** @description False if the subscription was auto-disabled. */
      active: boolean;
      /**
       * Format: date-time
       * @description When the subscription was auto-disabled, or null.
       */
      auto_disabled_at: string | null;
      /** @description Failed attempts since the last success. */
      consecutive_failures: number;
      /**
       * Format: date-time
       * @description ISO 8601, UTC, with milliseconds.
       */
      created_at: string;
      /** @description `whsec_…`, the signing secret. Only this response contains it. */
      secret: string;
    };
    /** @description An error in the format of RFC 9457. */
    Problem: {
      /**
       * Format: uri
       * @description A link to the explanation of this error.
       */
      type: string;
      /** @description The name of the error, for people. */
      title: string;
      /** @description The status of the response. */
      status: number;
      /** @description The error code for programs. New codes may be added. */
      code: string;
      /** @description An explanation for people. */
      detail: string;
      /** @description The value of X-Request-Id. */
      request_id: string;
      /** @description All faults of the request, with status 422. */
      errors?: components["schemas"]["Fault"][];
    };
    /** @description Proof of possession of the signing secret. */
    Proof: {
      /** @description The signing secret of the subscription. */
      secret: string;
    };
    /** @description A URL that receives events. */
    Subscription: {
      /** @description `wh_<uuid>` */
      id: string;
      /** @description `org_<uuid>` */
      organization_id: string;
      /** @description The https URL that receives deliveries, as it was submitted. */
      url: string;
      /** @description The event types that are delivered to the URL. */
      events: string[];
      /** @description False if the subscription was auto-disabled. */
      active: boolean;
      /**
       * Format: date-time
       * @description When the subscription was auto-disabled, or null.
       */
      auto_disabled_at: string | null;
      /** @description Failed attempts since the last success. */
      consecutive_failures: number;
      /**
       * Format: date-time
       * @description ISO 8601, UTC, with milliseconds.
       */
      created_at: string;
    };
    /** @description A URL and the event types to deliver to it. */
    SubscriptionRequest: {
      /** @description The receiver: an https URL of a public host, at most 2,048 characters. */
      url: string;
      /** @description One or more event types, each once. Known types: vc.test.ping. */
      events: components["schemas"]["EventTypeName"][];
    };
    /** @description The body of every delivery. Its bytes are the same for every attempt. */
    EventEnvelope: {
      /** @description The event type. */
      event: string;
      /** @description `evt_<uuid>`, the same for every attempt. */
      id: string;
      /** @description `wh_<uuid>`, the receiving subscription. */
      subscription_id: string;
      /**
       * Format: date-time
       * @description When it happened.
       */
      occurred_at: string;
      /** @description The details. */
      data: {
        [key: string]: unknown;
      };
    };
    "vc.test.ping": {
      message: string;
    };
    /** @description The body of a delivery of `vc.test.ping`. */
    "vc.test.ping.Envelope": {
      /** @constant */
      event: "vc.test.ping";
      /** @description `evt_<uuid>`, the same for every attempt. */
      id: string;
      /** @description `wh_<uuid>`, the receiving subscription. */
      subscription_id: string;
      /**
       * Format: date-time
       * @description When it happened.
       */
      occurred_at: string;
      data: components["schemas"]["vc.test.ping"];
    };
  };
  responses: never;
  parameters: {
    /** @description `sha256=` and the hexadecimal HMAC-SHA256 of timestamp, dot and raw body. The key is the whole signing secret, `whsec_` included. */
    "X-VC-Signature": string;
    /** @description The time of this attempt in milliseconds since the Unix epoch. Reject a delivery more than 5 minutes from your clock. */
    "X-VC-Timestamp": string;
    /** @description The number of this attempt, 1 to 7. It is not signed. */
    "X-VC-Attempt": number;
    /** @description The `id` of the event, for Standard Webhooks. */
    "webhook-id": string;
    /** @description The time in seconds, for Standard Webhooks. */
    "webhook-timestamp": string;
    /** @description The signature of Standard Webhooks. */
    "webhook-signature": string;
  };
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  getIdentity: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The organization, id, scopes and rate limit of the key. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "partner_org": "acme",
           *       "key_id": "0123456789abcdefghij",
           *       "scopes": [
           *         "identity:read",
           *         "webhooks:manage"
           *       ],
           *       "rate_limit_per_minute": 600
           *     }
           */
          "application/json": components["schemas"]["Identity"];
        };
      };
    };
  };
  listSubscriptions: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The organization's subscriptions, newest first. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          /**
           * @example [
           *       {
           *         "id": "wh_0b6e9f3c-58c1-4d0e-9c0f-3f8a6f0f2b11",
           *         "organization_id": "org_6f1d2c3b-7a85-4e0c-8f55-0c9d0f1f7a10",
           *         "url": "https://hooks.example.com/partner-api",
           *         "events": [
           *           "vc.test.ping"
           *         ],
           *         "active": true,
           *         "auto_disabled_at": null,
           *         "consecutive_failures": 0,
           *         "created_at": "2026-01-31T09:30:00.000Z"
           *       }
           *     ]
           */
          "application/json": components["schemas"]["Subscription"][];
        };
      };
    };
  };
  createSubscription: {
    parameters: {
      query?: never;
      header?: {
        /** @description Makes the request safe to repeat for 24 hours: 1 to 255 visible ASCII characters, such as a UUID. The same key with the same body returns the first response again. */
        "Idempotency-Key"?: string;
      };
      path?: never;
      cookie?: never;
    };
    /** @description A URL and the event types to deliver to it. */
    requestBody: {
      content: {
        /**
         * @example {
         *       "url": "https://hooks.example.com/partner-api",
         *       "events": [
         *         "vc.test.ping"
         *       ]
         *     }
         */
        "application/json": components["schemas"]["SubscriptionRequest"];
      };
    };
    responses: {
      /** @description The subscription with its signing secret. */
      201: {
        headers: {
          /** @description `true` if the response was stored for the Idempotency-Key. */
          "Idempotent-Replayed"?: string;
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "wh_0b6e9f3c-58c1-4d0e-9c0f-3f8a6f0f2b11",
           *       "organization_id": "org_6f1d2c3b-7a85-4e0c-8f55-0c9d0f1f7a10",
           *       "url": "https://hooks.example.com/partner-api",
           *       "events": [
           *         "vc.test.ping"
           *       ],
           *       "active": true,
           *       "auto_disabled_at": null,
           *       "consecutive_failures": 0,
           *       "created_at": "2026-01-31T09:30:00.000Z",
           *       "secret": "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
           *     }
           */
          "application/json": components["schemas"]["NewSubscription"];
        };
      };
    };
  };
  deleteSubscription: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description `wh_<uuid>` */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The subscription is deleted. */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  sendTestEvent: {
    parameters: {
      query?: never;
      header?: {
        /** @description Makes the request safe to repeat for 24 hours: 1 to 255 visible ASCII characters, such as a UUID. The same key with the same body returns the first response again. */
        "Idempotency-Key"?: string;
      };
      path: {
        /** @description `wh_<uuid>` */
        id: string;
      };
      cookie?: never;
    };
    /** @description Proof of possession of the signing secret. */
    requestBody: {
      content: {
        /**
         * @example {
         *       "secret": "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
         *     }
         */
        "application/json": components["schemas"]["Proof"];
      };
    };
    responses: {
      /** @description The event is stored and will be delivered. */
      200: {
        headers: {
          /** @description `true` if the response was stored for the Idempotency-Key. */
          "Idempotent-Replayed"?: string;
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "event_id": "evt_019bd1f1-0a00-7000-9b1c-5d6e7f809a1b",
           *       "enqueued": true
           *     }
           */
          "application/json": components["schemas"]["AcceptedEvent"];
        };
      };
    };
  };
  listFailures: {
    parameters: {
      query?: {
        /** @description The maximum number of items in a page. */
        limit?: number;
        /** @description The `next_cursor` of the previous page; absent for the first page. */
        cursor?: string;
      };
      header?: never;
      path: {
        /** @description `wh_<uuid>` */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Failed attempts, newest first. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["FailuresPage"];
        };
      };
    };
  };
}

/** The codes of the errors that each operation is known to answer. */
export const codes = {
  getIdentity: ["unauthenticated", "insufficient_scope", "rate_limited", "internal", "unavailable"],
  createSubscription: [
    "malformed_request",
    "unauthenticated",
    "insufficient_scope",
    "not_found",
    "subscription_limit",
    "request_in_progress",
    "payload_too_large",
    "unsupported_media_type",
    "invalid_request",
    "idempotency_key_reused",
    "url_rejected",
    "rate_limited",
    "internal",
    "unavailable",
  ],
  listSubscriptions: [
    "unauthenticated",
    "insufficient_scope",
    "rate_limited",
    "internal",
    "unavailable",
  ],
  deleteSubscription: [
    "unauthenticated",
    "insufficient_scope",
    "not_found",
    "rate_limited",
    "internal",
    "unavailable",
  ],
  sendTestEvent: [
    "malformed_request",
    "unauthenticated",
    "insufficient_scope",
    "secret_mismatch",
    "not_found",
    "subscription_inactive",
    "request_in_progress",
    "payload_too_large",
    "unsupported_media_type",
    "invalid_request",
    "idempotency_key_reused",
    "rate_limited",
    "internal",
    "unavailable",
  ],
  listFailures: [
    "unauthenticated",
    "insufficient_scope",
    "not_found",
    "invalid_request",
    "rate_limited",
    "internal",
    "unavailable",
  ],
} as const;
