/** A format of a variable. `parse` returns null if the text does not match, and `mustBe` describes the format. */
export interface Format<T> {
  parse: (text: string) => T | null;
  /** Completes "must be …". */
  mustBe: string;
  /** True if an error may quote the value. It must be false if the value can hold a secret. */
  quotable?: boolean;
}

/** Reads variables and collects their faults, so that one error names all. A faulty variable reads as its fallback. */
export class Environment {
  /** Each is a sentence that starts with the variable's name. */
  readonly faults: string[] = [];
  /** The variables that were read. */
  readonly names: string[] = [];
  readonly #env: NodeJS.ProcessEnv;
  readonly #faulty = new Set<string>();

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
  }

  /** Returns `fallback` if the variable is unset, empty or blank. */
  value<T, F>(name: string, format: Format<T>, fallback: F): T | F {
    const text = this.#read(name);
    return text === "" ? fallback : (this.#parse(name, text, format) ?? fallback);
  }

  /** Returns false if the variable is unset, empty or blank. */
  isSet(name: string): boolean {
    return this.#read(name) !== "";
  }

  /** Reads entries between separators. Returns null if there are none. Each faulty entry is a fault of its own. */
  list<T>(
    name: string,
    format: Format<T>,
    max: number,
    separator: string | RegExp = ",",
  ): T[] | null {
    const text = this.#read(name);
    if (text === "") return null;

    const entries = text.split(separator);
    if (entries.length > max) this.fault(name, `must have at most ${max} entries`);
    const values = entries
      .slice(0, max)
      .map((entry, i) => this.#parse(name, entry.trim(), format, `entry ${i + 1} `));
    return values.every((value) => value !== null) ? values : null;
  }

  /** Checks a rule over several variables, unless one of them is faulty. */
  rule(holds: boolean, [name, ...others]: [string, ...string[]], mustBe: string): void {
    if (!holds && ![name, ...others].some((n) => this.#faulty.has(n))) this.fault(name, mustBe);
  }

  /** Checks that no two entries of a list have the same `key`, which an error calls `what`. */
  differ<Entry>(name: string, what: string, entries: Entry[], key: keyof Entry): void {
    const values = new Set(entries.map((entry) => entry[key]));
    if (values.size < entries.length) this.fault(name, `must not use ${what} twice`);
  }

  fault(name: string, what: string): void {
    this.#faulty.add(name);
    this.faults.push(`${name} ${what}`);
  }

  /** Adds a sentence about a part of a variable's value. */
  faultWithin(name: string, sentence: string): void {
    this.#faulty.add(name);
    this.faults.push(`${name}: ${sentence}`);
  }

  #read(name: string): string {
    if (!this.names.includes(name)) this.names.push(name);
    const text = (this.#env[name] ?? "").trim();
    return isServiceLink(name, text) ? "" : text;
  }

  #parse<T>(name: string, text: string, format: Format<T>, where = ""): T | null {
    const { parse, mustBe, quotable = false } = format;
    const value = parse(text);
    if (value === null) {
      const quoted = quotable ? `, not ${JSON.stringify(text)}` : "";
      this.fault(name, `${where}must be ${mustBe}${quoted}`);
    }
    return value;
  }
}

/** Kubernetes gives each container `OPERATOR_PORT=tcp://10.0.0.1:80` if the namespace has a service `operator`. */
export function isServiceLink(name: string, text: string): boolean {
  return name.endsWith("_PORT") && /^(?:tcp|udp|sctp):\/\//.test(text);
}
