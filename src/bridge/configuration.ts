import { parse } from "yaml";
import { isObject } from "../lib/objects.ts";
import { type Mapping, type Member, MEMBERS, type Origin } from "./event.ts";
import { parsePointer } from "./json-text.ts";
import { type Secrets, Settings } from "./settings.ts";
import { type OpenSource, PLACES } from "./source.ts";
import { type Kind, KINDS, SOURCES } from "./sources.ts";

export interface SourceConfiguration {
  name: string;
  kind: Kind;
  mapping: Mapping;
  defaults: Mapping;
  open: OpenSource;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/** Reads a configuration of the bridge, YAML or JSON. Adds every fault to `faults`. */
export function readConfiguration(
  text: string,
  secrets: Secrets,
  faults: string[],
): SourceConfiguration[] {
  let document: unknown;
  try {
    document = parse(text);
  } catch (error) {
    faults.push(`the file is not YAML: ${(error as Error).message.split("\n")[0] ?? ""}`);
    return [];
  }
  const top = new Settings(document, "", faults, secrets);
  const entries = top.list("sources");
  top.end();
  const sources = entries.map((given, index) => readSource(given, index, faults, secrets));
  const names = sources.map(({ name }) => name);
  for (const name of new Set(names.filter((one, i) => one !== "" && names.indexOf(one) !== i))) {
    faults.push(`sources: two have the name ${name}`);
  }
  return sources;
}

function readSource(
  given: unknown,
  index: number,
  faults: string[],
  secrets: Secrets,
): SourceConfiguration {
  const settings = new Settings(given, `sources[${index}]`, faults, secrets);
  const name = settings.text("name");
  if (name !== "" && !NAME.test(name)) {
    settings.fault("name", "must be 1 to 64 letters, digits, dots, _ and -");
  }
  const kind = settings.choice("kind", KINDS);
  const mapping = readMapping(settings.below("event"));
  // Nothing is opened after a fault.
  if (settings.raw("kind") !== kind) return { name, kind, mapping, defaults: {}, open: unopened };
  const { open, defaults } = SOURCES[kind](settings);
  settings.end();
  return { name, kind, mapping, defaults, open };
}

function unopened(): never {
  throw new Error("the kind of the source is unknown");
}

function readMapping(settings: Settings): Mapping {
  const found: Partial<Record<Member, Origin>> = {};
  for (const member of MEMBERS) {
    if (!settings.has(member)) continue;
    const origin = readOrigin(settings, member);
    if (origin !== null) found[member] = origin;
  }
  settings.end();
  return found;
}

function readOrigin(settings: Settings, member: Member): Origin | null {
  const given = settings.raw(member);
  if (!isObject(given)) return { constant: JSON.stringify(given) };
  const [[kind, value] = []] = Object.entries(given);
  const isOne = Object.keys(given).length === 1;
  if (isOne && kind === "constant") return { constant: JSON.stringify(value) };
  if (isOne && kind === "pointer" && typeof value === "string") {
    const pointer = parsePointer(value);
    if (pointer !== null) return { pointer };
  }
  if (isOne && kind === "header" && typeof value === "string")
    return { header: value.toLowerCase() };
  const place = PLACES.find((one) => one === value);
  if (isOne && kind === "from" && place !== undefined) return { from: place };
  settings.fault(member, `must be a constant, ${FORMS}`);
  return null;
}

const FORMS = `{pointer: /a/b}, {header: name} or {from: ${PLACES.join(" | ")}}`;
