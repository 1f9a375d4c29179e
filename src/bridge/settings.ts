import { isIP } from "node:net";
import { formatDuration, parseDuration } from "../lib/duration.ts";
import { isObject } from "../lib/objects.ts";

/** What the values `{env: NAME}` and `{file: path}` stand for. */
export interface Secrets {
  env: Readonly<Record<string, string | undefined>>;
  readFile: (path: string) => string;
}

/** As Node.js takes it. */
export type Tls = Partial<Record<(typeof TLS)[number], string>>;

const TLS = ["ca", "cert", "key"] as const;

/** Reads an object of the configuration and collects its faults, so that one error names all. */
export class Settings {
  readonly path: string;
  readonly faults: string[];
  readonly secrets: Secrets;
  readonly #given: Record<string, unknown>;
  readonly #read = new Set<string>();

  constructor(given: unknown, path: string, faults: string[], secrets: Secrets) {
    this.path = path;
    this.faults = faults;
    this.secrets = secrets;
    if (!isObject(given)) this.fault("", "must be an object");
    this.#given = isObject(given) ? given : {};
  }

  has(name: string): boolean {
    return this.#own(name) !== undefined;
  }

  /** A text, `{env: NAME}` or `{file: path}`. No fault quotes it, because it can be a secret. */
  text(name: string, fallback?: string): string {
    const given = this.#own(name);
    if (given === undefined && fallback !== undefined) return fallback;
    const value = isObject(given) ? this.#secret(name, given) : given;
    if (typeof value === "string" && value !== "") return value;
    if (typeof value === "number") return String(value);
    if (value !== null) this.fault(name, given === undefined ? "is missing" : "must be a text");
    return fallback ?? "";
  }

  optionalText(name: string): string | null {
    return this.has(name) ? this.text(name) : null;
  }

  /** A text or a list of texts. */
  texts(name: string, fallback?: readonly string[]): string[] {
    const given = this.#own(name);
    if (!Array.isArray(given))
      return given === undefined && fallback ? [...fallback] : [this.text(name)];
    const items = new Settings(
      Object.fromEntries(given.entries()),
      this.at(name),
      this.faults,
      this.secrets,
    );
    if (given.length === 0) this.fault(name, "must not be empty");
    return given.map((_, index) => items.text(String(index)));
  }

  /** Requires of each text that was given that it is a URL of one of these schemes. */
  requireUrls(name: string, texts: readonly string[], schemes: readonly string[]): void {
    const given = texts.filter((text) => text !== "");
    const hasScheme = (text: string) => schemes.some((scheme) => text.startsWith(scheme));
    if (!given.every(hasScheme)) this.fault(name, `must begin with ${schemes.join(" or ")}`);
    else if (!given.every(isUrl))
      this.fault(name, "is no URL: in a password, write / as %2F, : as %3A and @ as %40");
  }

  integer(
    name: string,
    { min, max, fallback }: { min: number; max: number; fallback: number },
  ): number {
    const given = this.#own(name) ?? fallback;
    if (typeof given === "number" && Number.isInteger(given) && given >= min && given <= max)
      return given;
    this.fault(name, `must be an integer from ${min} to ${max}`);
    return fallback;
  }

  duration(
    name: string,
    { minMs, maxMs, fallbackMs }: { minMs: number; maxMs: number; fallbackMs: number },
  ): number {
    const given = this.#own(name);
    if (given === undefined) return fallbackMs;
    const ms = typeof given === "string" ? parseDuration(given) : null;
    if (ms !== null && ms >= minMs && ms <= maxMs) return ms;
    this.fault(
      name,
      `must be a duration from ${formatDuration(minMs)} to ${formatDuration(maxMs)}`,
    );
    return fallbackMs;
  }

  choice<T extends string>(name: string, choices: readonly [T, ...T[]], fallback?: T): T {
    const given = this.#own(name) ?? fallback;
    const chosen = choices.find((choice) => choice === given);
    if (chosen === undefined) {
      this.fault(
        name,
        `${given === undefined ? "is missing: it " : ""}must be one of ${choices.join(", ")}`,
      );
    }
    return chosen ?? choices[0];
  }

  /** An object below this one. An absent one is empty. */
  below(name: string): Settings {
    return new Settings(this.#own(name) ?? {}, this.at(name), this.faults, this.secrets);
  }

  /**
   * What a TLS connection verifies and shows, if `tls` is configured. With a URL its scheme decides, and a client ignores the rest
   * without a word.
   */
  tls(urls: readonly string[] = [], scheme = ""): Tls | null {
    if (!this.has("tls")) return null;
    if (urls.some((url) => url !== "" && !url.startsWith(scheme)))
      this.fault("tls", `needs a URL that begins with ${scheme}`);
    const given = this.below("tls");
    const texts = TLS.map((name) => [name, given.optionalText(name)] as const);
    given.end();
    return Object.fromEntries(texts.filter(([, text]) => text !== null));
  }

  /** The same for clients that compare a certificate at an IP address with the name `localhost`. */
  tlsByName(addresses: readonly string[]): Tls | null {
    const tls = this.tls();
    if (tls !== null && addresses.some((address) => isIP(hostOf(address)) !== 0))
      this.fault("tls", "needs a name in place of an IP address, which the client does not check");
    return tls;
  }

  /** The given value as it is. */
  raw(name: string): unknown {
    return this.#own(name);
  }

  list(name: string): unknown[] {
    const given = this.#own(name);
    if (Array.isArray(given) && given.length > 0) return given;
    this.fault(name, "must be a list with at least one entry");
    return [];
  }

  /** Call it last: a name that nothing has asked for is a mistake. */
  end(): void {
    for (const name of Object.keys(this.#given)) {
      if (!this.#read.has(name)) this.fault(name, "is unknown");
    }
  }

  fault(name: string, what: string): void {
    this.faults.push(`${this.at(name)} ${what}`);
  }

  at(name: string): string {
    return [this.path, name].filter((part) => part !== "").join(".");
  }

  #own(name: string): unknown {
    this.#read.add(name);
    return Object.hasOwn(this.#given, name) ? (this.#given[name] ?? undefined) : undefined;
  }

  /** Returns null after a fault. */
  #secret(name: string, given: Record<string, unknown>): string | null {
    const [[kind, of] = []] = Object.entries(given);
    if (
      Object.keys(given).length !== 1 ||
      typeof of !== "string" ||
      (kind !== "env" && kind !== "file")
    ) {
      this.fault(name, "must be a text, {env: NAME} or {file: path}");
      return null;
    }
    try {
      const value = kind === "env" ? this.secrets.env[of] : this.secrets.readFile(of).trimEnd();
      if (value) return value;
      this.fault(
        name,
        `is in ${kind === "env" ? "the variable" : "the file"} ${of}, which is empty`,
      );
    } catch (error) {
      this.fault(
        name,
        `is in the file ${of}, which cannot be read (${(error as NodeJS.ErrnoException).code ?? ""})`,
      );
    }
    return null;
  }
}

/** Without a host, a URL names a socket among its parameters. */
function isUrl(text: string): boolean {
  return URL.canParse(text.replace("@/", "@socket/"));
}

/** Of a URL, or of a host with its port. */
function hostOf(address: string): string {
  const url = address.includes("://") ? address : `tcp://${address}`;
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, "") : "";
}
