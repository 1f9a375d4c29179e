/** The answers of the operator API, as far as the console shows them. */

/** A list. From a gateway: the items of the cells that answered. */
export interface Part<T> {
  items: T[];
  unreachable?: string[];
}

export interface Page<T> extends Part<T> {
  next_cursor: string | null;
}

export type Role = "operate" | "read";

export interface SessionInfo {
  name: string;
  role: Role;
  /** The failed attempts in a row that disable a subscription. */
  auto_disable_after?: number;
  /** Of one subscription in one process: the limit at first, and the highest. */
  concurrency?: { initial: number; max: number };
}

export interface Percentiles {
  p50: number | null;
  p99: number | null;
}

export interface ServiceProblem {
  code: string;
  detail: string;
  since: string | null;
}

/** Numbers are null while the database is away. */
export interface Overview {
  status: "ok" | "degraded" | "down";
  problems: ServiceProblem[];
  now: {
    deliveries_per_second: number | null;
    success_share: number | null;
    attempt_ms: Percentiles;
    waiting: Backlog | { due: null; scheduled: null; held?: null; estimated: boolean };
    oldest_due_seconds: number | null;
    attempts_under_way: number | null;
  };
  last_24h: Record<
    "published" | "delivered" | "dead_lettered" | "cancelled" | "disabled",
    number | null
  >;
  failing: RankedSubscription[];
  slowest: RankedSubscription[];
  near_limit?: NearLimit[];
  held?: HeldSubscription[];
  processes: Process[];
  bridges?: Bridge[];
}

export interface HeldSubscription {
  id: string;
  organization: OrganizationName;
  host: string;
  url: string;
  held_at: string;
  release_by: string;
}

export interface Backlog {
  held?: number;
  due: number;
  scheduled: number;
  estimated: boolean;
}

export interface OrganizationName {
  id: string;
  slug: string;
}

/** A subscription among those that fail most, or are slowest, in the last hour. */
export interface RankedSubscription {
  id: string;
  organization: OrganizationName;
  url: string;
  host: string;
  active: boolean;
  consecutive_failures: number;
  attempts: number;
  failed: number;
  success_share: number | null;
  attempt_ms: Percentiles;
}

/** An organization that came near its rate limit in the last hour. */
export interface NearLimit {
  organization: OrganizationName;
  rate_limit_per_minute: number;
  /** The requests that passed in it. */
  busiest_minute: number;
  rate_limited: number;
}

export interface Process {
  id: string;
  role: string;
  version: string;
  host: string;
  pid: number;
  started_at: string;
  last_seen_at: string;
  state: "running" | "stopping" | "gone";
  attempts_under_way: number;
  /** The most attempts at once. */
  slots?: number | null;
  last_recorded_at: string | null;
  organizations: { slug: string; slots: number }[];
  slowed: { subscription: string; limit: number }[];
}

export interface Bridge {
  id: string;
  version: string;
  host: string;
  pid: number;
  started_at: string;
  last_seen_at: string;
  state: "running" | "gone";
  sources: {
    name: string;
    kind: string;
    problem: string | null;
    lag_messages: number | null;
    lag_bytes: number | null;
    published: number;
    set_aside: number;
  }[];
}

export interface ActivityPoint {
  at: string;
  published: number;
  attempts: number;
  succeeded: number;
  failed: number;
  by_reason: Record<string, number>;
  attempt_ms: Percentiles;
  end_to_end_ms: Percentiles;
  requests?: number;
  rate_limited?: number;
}

export type Activity = Part<ActivityPoint>;

/** A change of the service, as the API answers it. */
export interface MarkShown {
  at: string;
  kind: "started" | "stopped" | "disabled" | "release" | "changed";
  label: string;
}

export type Marks = Part<MarkShown>;

export interface RecentAttempt {
  at: string;
  http_status: number;
  reason: string | null;
  duration_ms: number;
}

export interface Health {
  success_share: number | null;
  attempt_ms: Percentiles;
  recent: RecentAttempt[];
  waiting: Backlog;
  next_due_at: string | null;
}

export interface Organization {
  id: string;
  slug: string;
  rate_limit_per_minute: number;
  created_at: string;
  closed_at?: string | null;
  /** From a gateway: its cell. */
  cell?: string;
}

export interface OrganizationDetail extends Organization {
  /** The number of its subscriptions. */
  subscriptions?: number;
  health: Health;
}

export interface Subscription {
  id: string;
  organization_id: string;
  url: string;
  events: string[];
  active: boolean;
  auto_disabled_at: string | null;
  consecutive_failures: number;
  created_at: string;
  max_per_second?: number | null;
  held_at?: string | null;
  release_by?: string | null;
  organization?: OrganizationName;
}

export interface SubscriptionDetail extends Subscription {
  health: Health;
}

export interface ApiKey {
  key_id: string;
  organization_id: string;
  scopes: string[];
  label: string | null;
  created_at: string;
  last_used_at: string | null;
  revoked_at: string | null;
}

export interface IssuedKey {
  key_id: string;
  token: string;
}

export type DeliveryState = "waiting" | "delivered" | "dead_lettered" | "cancelled";

export interface Delivery {
  id: string;
  event_id: string;
  event_type: string;
  subscription_id: string;
  organization_id: string;
  state: DeliveryState;
  attempts: number;
  reason: string | null;
  created_at: string;
  due_at: string | null;
  finished_at: string | null;
  /** The rest may be absent while a new version is rolled out: a process of the old one answers without it. */
  organization?: OrganizationName;
  host?: string;
  request_id?: string | null;
  redelivery_of?: string | null;
  redelivered_as?: string | null;
  held_at?: string | null;
  cancel_reason?: string | null;
}

/** The rest may be absent, as of a delivery. */
export interface DeliveriesPage extends Page<Delivery> {
  counts?: Record<DeliveryState, number>;
  searched_until?: string | null;
}

export interface Attempt {
  id: string;
  subscription_id: string;
  event_id: string;
  event_type: string;
  attempt: number;
  status: "delivered" | "failed" | "dead_lettered";
  http_status: number;
  reason: string | null;
  /** Absent from a process of an older version. */
  detail?: string | null;
  duration_ms: number;
  attempted_at: string;
  next_attempt_at: string | null;
}

export interface DeliveryDetail extends Delivery {
  subscription: {
    organization_slug: string;
    url: string;
    auto_disabled_at: string | null;
    deleted_at: string | null;
  };
  attempt_log: Attempt[];
  redeliveries?: Delivery[];
}

export interface EventDetail {
  id: string;
  organization: string;
  type: string;
  occurred_at: string;
  published_at?: string;
  request_id?: string | null;
  /** Left out on request. */
  data?: unknown;
  deliveries: Delivery[];
}

export interface ListedEventType {
  type: string;
  summary: string;
  subscriptions: number;
  last_published_at: string | null;
}

export type JobAction = "redeliver" | "attempt_now" | "cancel";

export interface Redelivery {
  id: string;
  action?: JobAction;
  /** Why deliveries are cancelled. */
  reason?: string | null;
  state: "queued" | "running" | "paused" | "cancelled" | "finished";
  total: number;
  done: number;
  skipped: number;
  failed: number;
  created_at: string;
  finished_at: string | null;
  created_by: string;
  filter: Record<string, string | null>;
  to: string | null;
  rate_per_second: number;
}

export interface RedeliveryPreview {
  count: number;
  estimated: boolean;
  already_redelivered: number;
  sample: Delivery[];
}

export interface Change {
  id: string;
  at: string;
  operator: string;
  action: string;
  subject: string;
  via: "api" | "console" | "command_line";
  remote: string;
  request_id: string;
}

export interface Found {
  kind: string;
  id: string;
  label: string;
}

export type Finds = Part<Found>;
