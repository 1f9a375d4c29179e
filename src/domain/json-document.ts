import type { Fault } from "./errors.ts";
import { escapePointer } from "./violation.ts";

/** Longer names are cut short in a pointer. */
const NAME_SHOWN_MAX = 100;
/** Longer pointers are not extended. */
const POINTER_MAX = 2_000;

interface Container {
  /** The pointer of the container. */
  pointer: string;
  /** The names so far, or null in an array. */
  names: Set<string> | null;
  /** The index of the current item of an array. */
  index: number;
  /** The pointer of the next value. */
  next: string;
}

/** The number of tokens that are read in one step: about a millisecond. */
const STEP_TOKENS = 4_000;

const HALF_A_PAIR = /\p{Cs}/u;
const PUNCTUATION = /["{}[\],]|[-0-9][-+.0-9eE]*/g;

/**
 * Finds what JavaScript or PostgreSQL would silently lose of a JSON text: duplicate members, numbers beyond the exact integers,
 * U+0000, half a surrogate pair, the name `__proto__`, and values in more than `depthMax` containers. `text` must be valid
 * JSON. The time is linear in its length, and depth takes no stack. Yields after each step.
 */
export function* faultsOfJson(
  text: string,
  { depthMax, faultsMax }: { depthMax: number; faultsMax: number },
): Generator<undefined, Fault[]> {
  const faults: Fault[] = [];
  const open: Container[] = [];
  let depth = 0;
  let isName = false;
  const token = new RegExp(PUNCTUATION);
  const blame = (pointer: string, detail: string) => faults.push({ pointer, detail });
  const here = () => open.at(-1)?.next ?? "";

  for (let tokens = 1; faults.length < faultsMax; tokens++) {
    if (tokens % STEP_TOKENS === 0) yield;
    const found = token.exec(text);
    if (found === null) break;
    const [sign] = found;
    switch (sign) {
      case "{":
      case "[":
        if (++depth > depthMax) {
          if (depth === depthMax + 1) blame(here(), "must not be nested deeper");
          break;
        }
        open.push(containerAt(here(), sign));
        isName = sign === "{";
        break;
      case "}":
      case "]":
        if (depth-- <= depthMax) open.pop();
        isName = false;
        break;
      case ",":
        isName = depth <= depthMax && nextOf(open.at(-1));
        break;
      case '"': {
        const end = endOfString(text, found.index);
        token.lastIndex = end;
        if (depth > depthMax) break;
        const written = text.slice(found.index, end);
        if (isName) readName(written, open.at(-1), blame);
        else blameText(here(), written, blame);
        isName = false;
        break;
      }
      default:
        if (depth <= depthMax && !isExact(sign)) {
          blame(here(), "must be a number from -(2^53 - 1) to 2^53 - 1");
        }
    }
  }
  return faults;
}

type Blame = (pointer: string, detail: string) => void;

function containerAt(pointer: string, sign: "{" | "["): Container {
  const isObject = sign === "{";
  return {
    pointer,
    names: isObject ? new Set() : null,
    index: 0,
    next: isObject ? pointer : `${pointer}/0`,
  };
}

/** Moves on after a comma. Returns true if a name follows. */
function nextOf(container: Container | undefined): boolean {
  if (!container || container.names) return container !== undefined;
  container.index++;
  container.next = `${container.pointer}/${container.index}`;
  return false;
}

function readName(written: string, object: Container | undefined, blame: Blame): void {
  if (!object?.names) return;
  const name = textOf(written);
  object.next = pointerTo(object.pointer, name);
  if (object.names.has(name)) blame(object.next, "must not be given twice");
  else if (name === "__proto__") blame(object.next, "must not have this name");
  object.names.add(name);
  blameText(object.next, written, blame);
}

/** Only an escape can stand for a character that UTF-8 or JSON does not permit. */
function blameText(pointer: string, written: string, blame: Blame): void {
  if (!written.includes("\\")) return;
  const text = textOf(written);
  if (text.includes("\0")) blame(pointer, "must not contain the character U+0000");
  if (HALF_A_PAIR.test(text)) blame(pointer, "must not contain half a surrogate pair");
}

function textOf(written: string): string {
  return written.includes("\\") ? (JSON.parse(written) as string) : written.slice(1, -1);
}

/** Extends an RFC 6901 pointer by a name, or by its beginning and `…`. */
function pointerTo(parent: string, name: string): string {
  if (parent.length > POINTER_MAX) return parent;
  const shown = name.length > NAME_SHOWN_MAX ? `${name.slice(0, NAME_SHOWN_MAX)}…` : name;
  return `${parent}/${escapePointer(shown)}`;
}

/** Returns the position after the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); ; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === "\\") backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
  }
}

function isExact(written: string): boolean {
  return Math.abs(Number(written)) <= Number.MAX_SAFE_INTEGER;
}
