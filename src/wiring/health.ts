import { type Clock, systemClock } from "../domain/clock.ts";
import type { InternalFault } from "../domain/outcome.ts";
import type { Check } from "../domain/overview.ts";
import type { HealthChecks } from "../http/health.ts";
import { kept } from "./kept.ts";
import type { ShardHealth } from "./shard-health.ts";

/** How long an internal fault keeps the process from being ready after it was last seen. */
const FAULT_MEMORY_MS = 60_000;

/**
 * Faults that leave the process ready. For `secret_sealed` the key ring is checked instead. `lease_spent` is over when it
 * is noticed. A partner's input may trigger the defect behind `unexpected`.
 */
const STAYS_READY: ReadonlySet<InternalFault> = new Set([
  "secret_sealed",
  "lease_spent",
  "unexpected",
]);

/** Checks whether this process can work, with any of the shards. Partners cannot influence the results. */
export class Readiness {
  readonly #shards: readonly ShardHealth[];
  readonly #clock: Clock;
  readonly #faults = new Map<InternalFault, number>();
  #isStopping = false;

  /** Database and clock: can requests be served? */
  readonly forPartners: HealthChecks;
  /** Also internal faults: are deliveries sent? */
  readonly forOperators: HealthChecks;

  constructor(shards: readonly ShardHealth[], clock: Clock = systemClock) {
    this.#shards = shards;
    this.#clock = clock;
    const base = () => this.#checkAnyShard();
    const faults = kept(() => this.#checkFaults());
    this.forPartners = this.#unlessStopping(base);
    this.forOperators = this.#unlessStopping(async () =>
      (await Promise.all([base(), faults()])).flat(),
    );
  }

  /** Returns one check that names the shards that do not work, if there are others. */
  async checkShards(): Promise<Check[]> {
    if (this.#shards.length === 1) return [];
    const away = await Promise.all(
      this.#shards.map(async (shard) => {
        const failed = (await shard.checkAtOnce()).find(({ ok }) => !ok);
        return failed ? [`${shard.name} (${failed.name}: ${failed.detail ?? ""})`] : [];
      }),
    );
    const detail = away.flat().join(", ");
    return detail === "" ? [] : [{ name: "shard", ok: false, detail }];
  }

  noteFault(fault: InternalFault): void {
    this.#faults.set(fault, this.#clock().getTime());
  }

  /** From now on, tells balancers to send no more requests. */
  noteStopping(): void {
    this.#isStopping = true;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  #unlessStopping(checks: () => Promise<Check[]>): HealthChecks {
    return {
      ready: async () => (this.#isStopping ? [{ name: "stopping", ok: false }] : checks()),
    };
  }

  /** A frozen shard must not delay the result while another one works. */
  async #checkAnyShard(): Promise<Check[]> {
    const all = this.#shards.map((shard) => shard.check());
    const well = all.map(async (checks) => {
      if ((await checks).every(({ ok }) => ok)) return checks;
      throw new Error("not ready");
    });
    return Promise.any(well).catch(async () => (await Promise.all(all))[0] ?? []);
  }

  async #checkFaults(): Promise<Check[]> {
    const recent = this.#recentFaults();
    const checks = recent
      .filter((fault) => !STAYS_READY.has(fault))
      .map((fault) => toCheck(fault, false));
    return recent.includes("secret_sealed") ? [...checks, await this.#examineRing()] : checks;
  }

  /** A missing key stops only its own subscriptions. A ring without any of the keys stops all. */
  async #examineRing(): Promise<Check> {
    const opened = await Promise.all(this.#shards.map((shard) => shard.opensSome()));
    return toCheck("secret_sealed", opened.includes(true));
  }

  #recentFaults(): InternalFault[] {
    const oldest = this.#clock().getTime() - FAULT_MEMORY_MS;
    return [...this.#faults].filter(([, at]) => at > oldest).map(([fault]) => fault);
  }
}

function toCheck(name: InternalFault, ok: boolean): Check {
  return { name, ok, detail: `${ok ? "some " : ""}deliveries wait until this is repaired` };
}
