import { appendFile, cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Afterwards } from "../ledger/afterwards.ts";
import { issueAuthority, issueCertificate } from "../../src/listen/self-signed.ts";
import { freePort } from "../support/free-port.ts";
import { call, partnerOf } from "../support/rig.ts";
import { startLoad } from "../support/rolling-load.ts";
import { ROOT } from "../support/root.ts";
import { type Run, succeeds } from "./engine.ts";

export interface Outcome {
  name: string;
  requests: number;
  failed: number;
  /** Events that were accepted and did not arrive. */
  lost: number;
  seconds: number;
  /** What must not be. */
  fault: string | null;
}

export interface Given {
  run: Run;
  /** For files of this run. */
  folder: string;
  /** The commit to upgrade from. Null: the last release. */
  from: string | null;
  afterwards: Afterwards;
  signal: AbortSignal;
  tell: (outcome: Outcome) => void;
}

export type Partner = Awaited<ReturnType<Trial["partner"]>>;

const RECEIVER = "receiver.example";
/** A delivery that failed once is attempted again after a minute. */
const ARRIVAL_MS = 240_000;
const FORMAT = "{{.Service}} {{.State}} {{.Health}}";

/** A copy of the project, and the receiver that its containers may reach. */
export class Trial {
  readonly deploy: string;
  /** The engine's arguments for the files of `deploy` and for ours. */
  readonly files: string[];
  readonly #given: Given;
  readonly #receiver: string;
  #token = "";
  #partnerUrl = "";
  #operatorUrl = "";

  private constructor(given: Given, files: string[]) {
    this.#given = given;
    this.deploy = join(given.folder, "project/deploy");
    this.#receiver = join(given.folder, "receiver");
    this.files = [...files, join(given.folder, "trial.yaml")].flatMap((file) => ["--file", file]);
  }

  static async open(given: Given, { files, nodes, volume }: TrialPlan): Promise<Trial> {
    const trial = new Trial(given, files);
    await trial.#copyProject();
    await trial.#writeCertificates();
    await writeFile(join(given.folder, "trial.yaml"), trial.#additions(nodes, volume));
    const [partners, operators, grafana] = [await freePort(), await freePort(), await freePort()];
    trial.#partnerUrl = `http://127.0.0.1:${partners}`;
    trial.#operatorUrl = `http://127.0.0.1:${operators}`;
    await trial.shell("./new-secrets.sh > .env");
    const ports = `PARTNERS_PORT=${partners}\nOPERATORS_PORT=${operators}\nGRAFANA_PORT=${grafana}\n`;
    await appendFile(join(trial.deploy, ".env"), ports);
    const [, token = ""] =
      /^ADMIN_TOKEN=(.*)$/m.exec(await readFile(join(trial.deploy, ".env"), "utf8")) ?? [];
    trial.#token = token;
    given.afterwards.after(() => trial.compose("down", "--volumes", "--timeout", "5"));
    return trial;
  }

  /** Runs a command of the guide in the folder `deploy`, with our additions. */
  shell(command: string): Promise<string> {
    const [ours = ""] = this.files.slice(-1);
    const named = command.replace(/( -f \S+)+/, `$& -f ${ours}`);
    const all = `export COMPOSE_FILE=compose.yaml:${ours}; ${named}`;
    return this.#given.run("bash", ["-euo", "pipefail", "-c", all], { cwd: this.deploy });
  }

  compose(...args: string[]): Promise<string> {
    return this.#given.run("docker", ["compose", ...this.files, ...args], { cwd: this.deploy });
  }

  /** Waits until each of these services is healthy. */
  async healthy(...services: string[]): Promise<void> {
    for (;;) {
      const states = (await this.compose("ps", "--all", "--format", FORMAT)).split("\n");
      if (services.every((name) => states.includes(`${name} running healthy`))) return;
      this.#given.signal.throwIfAborted();
      await sleep(200);
    }
  }

  /** Kills the first process of a container, as a crash would: `docker kill` would count as a stop by a person. */
  async crash(service: string): Promise<void> {
    const id = await this.compose("ps", "--quiet", service);
    const pid = await this.#given.run("docker", ["inspect", "--format", "{{.State.Pid}}", id]);
    process.kill(Number(pid), "SIGKILL");
  }

  operator(path: string, body?: object) {
    const method = body ? "POST" : "GET";
    return call(`${this.#operatorUrl}/api/v1/admin${path}`, { method, token: this.#token, body });
  }

  /** A new partner with a subscription of the receiver. */
  async partner(slug: string, further: object = {}) {
    await this.operator("/organizations", { slug, rate_limit_per_minute: 1_000_000, ...further });
    const scopes = ["webhooks:manage"];
    const { body } = await this.operator("/keys", { organization: slug, scopes });
    const token = String(body["token"]);
    const partner = partnerOf(
      { partnerUrl: this.#partnerUrl, operatorUrl: this.#operatorUrl },
      token,
    );
    return { token, subscription: await partner.subscribe(`https://${RECEIVER}:8443/`) };
  }

  /** Does some work under the load of a partner, and tells what the partner noticed. */
  async during(
    name: string,
    { token, subscription }: Partner,
    work: () => Promise<unknown>,
    { failedMax = Infinity }: { failedMax?: number } = {},
  ): Promise<void> {
    const load = startLoad(this.#partnerUrl, subscription, token);
    const since = Date.now();
    await work().finally(() => sleep(1_000).then(() => load.stop()));
    const seconds = (Date.now() - since) / 1_000;
    const { failed } = load;
    const lost = await this.#lost(load.published.all);
    const requests = load.published.all.length + failed.length;
    const faults = [
      ...(load.published.all.length === 0 ? ["no request succeeded"] : []),
      ...(failed.length > failedMax ? [`${failed.length} failed: ${failed.at(-1) ?? ""}`] : []),
      ...(lost.length > 0 ? [`lost ${lost.slice(0, 3).join(", ")}`] : []),
    ];
    this.tell({
      name,
      requests,
      failed: failed.length,
      lost: lost.length,
      seconds,
      fault: faults.join("; ") || null,
    });
  }

  tell(outcome: Outcome): void {
    this.#given.tell(outcome);
  }

  /** The events that have not arrived after the time of a second attempt. */
  async #lost(published: readonly string[]): Promise<string[]> {
    const until = Date.now() + ARRIVAL_MS;
    for (;;) {
      const text = await readFile(join(this.#receiver, "arrived"), "utf8").catch(() => "");
      const arrived = new Set(text.split("\n"));
      const missing = published.filter((id) => !arrived.has(id));
      if (missing.length === 0 || Date.now() > until) return missing;
      this.#given.signal.throwIfAborted();
      await sleep(500);
    }
  }

  async #copyProject(): Promise<void> {
    if (await succeeds(readFile(join(this.deploy, "compose.yaml")))) return;
    const list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    const files = await this.#given.run("git", list, { cwd: ROOT });
    for (const file of files.split("\0").filter((one) => one !== "")) {
      const to = join(this.#given.folder, "project", file);
      await mkdir(dirname(to), { recursive: true });
      await cp(join(ROOT, file), to).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error; // Deleted, and not committed yet.
      });
    }
  }

  async #writeCertificates(): Promise<void> {
    await mkdir(this.#receiver, { recursive: true });
    const validity = {
      notBefore: new Date(Date.now() - 86_400_000),
      notAfter: new Date(Date.now() + 86_400_000),
    };
    const authority = await issueAuthority("Trial authority", validity);
    const { key, cert } = await issueCertificate(
      "Trial receiver",
      { dns: [RECEIVER], ip: [] },
      { ...validity, authority },
    );
    const write = (name: string, text: string) => writeFile(join(this.#receiver, name), text);
    await write("ca.pem", authority.cert);
    await write("receiver.key", key);
    await write("receiver.pem", cert);
  }

  /** What the trial adds: the receiver, and leave to send to it. */
  #additions(nodes: readonly string[], volume?: string): string {
    const leave = {
      environment: {
        EGRESS_ALLOW: "172.16.0.0/12,192.168.0.0/16",
        EGRESS_CA_FILE: "/receiver/ca.pem",
      },
      volumes: [`${this.#receiver}:/receiver:ro`],
    };
    const receiver = {
      image: "node:24-trixie-slim",
      command: ["node", "/project/dist/test/containers/receiver.js", "/receiver"],
      volumes: [`${ROOT}:/project:ro`, `${this.#receiver}:/receiver`],
      networks: { default: { aliases: [RECEIVER] } },
      stop_grace_period: "1s",
    };
    const database = { driver_opts: { type: "none", o: "bind", device: volume } };
    return JSON.stringify({
      services: { receiver, ...Object.fromEntries(nodes.map((name) => [name, leave])) },
      ...(volume === undefined ? {} : { volumes: { database } }),
    });
  }
}

export interface TrialPlan {
  files: string[];
  nodes: string[];
  /** A folder in place of the database's volume. */
  volume?: string;
}
