import type { NamedType } from "./shape.ts";

/** Gives each thing a name of its own in Pascal case, such as `OrderCreated` for `order.created`. */
export class Names {
  readonly #taken: Set<string>;

  /** `reserved` are names that the library itself has. */
  constructor(reserved: Iterable<string> = []) {
    this.#taken = new Set(reserved);
  }

  take(wanted: string): string {
    const name = pascalCase(wanted);
    let free = name;
    for (let i = 2; this.#taken.has(free); i++) free = `${name}${i}`;
    this.#taken.add(free);
    return free;
  }
}

function pascalCase(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  return /^[A-Z]/.test(name) ? name : `X${name}`;
}

/** The declarations of a generated file. */
export class Scope {
  /** The types that are declared so far. */
  readonly types: string[] = [];
  readonly names: Names;
  readonly #known = new Map<NamedType, string>();

  constructor(reserved: Iterable<string>) {
    this.names = new Names(reserved);
  }

  /** Returns the name of a type. The first time, `declare` adds its declaration. */
  nameOf(type: NamedType, declare: (name: string) => void): string {
    const known = this.#known.get(type);
    if (known !== undefined) return known;
    const name = this.names.take(type.name);
    this.#known.set(type, name);
    declare(name);
    return name;
  }
}
