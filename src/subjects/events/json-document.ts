import { escapePointer, type Fault } from "../../lib/errors.ts";

/** Longer names are cut short in a pointer. */
const NAME_SHOWN_MAX = 100;
/** Longer pointers are not extended. */
const POINTER_MAX = 2_000;

interface Container {
  /** The names so far, or null in an array. */
  names: Set<string> | null;
  /** The name or the index of the current value. */
  at: string | number;
}

/** The number of characters that are read in one step, without those of strings: about a millisecond. */
const STEP_CHARACTERS = 10_000;

const HALF_A_PAIR = /\p{Cs}/u;
const NUMBER = /[-+.0-9eE]+/y;

/**
 * Finds what JavaScript or PostgreSQL would silently lose of a JSON text: duplicate members, numbers that a double does not
 * keep, U+0000, half a surrogate pair, the name `__proto__`, and values in more than `depthMax` containers. `text` must be valid
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
  const blame = (detail: string) => faults.push({ pointer: pointerOf(open), detail });

  for (let at = 0, read = 1; at < text.length && faults.length < faultsMax; at++, read++) {
    if (read % STEP_CHARACTERS === 0) yield;
    const sign = text.charAt(at);
    switch (sign) {
      case "{":
      case "[":
        if (++depth > depthMax) {
          if (depth === depthMax + 1)
            blame("is nested too deeply: remove levels of objects and arrays");
          break;
        }
        isName = sign === "{";
        open.push({ names: isName ? new Set() : null, at: 0 });
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
        const start = at;
        at = lastOfString(text, start);
        if (depth > depthMax) break;
        const written = text.slice(start, at + 1);
        if (isName) readName(written, open.at(-1), blame);
        else blameText(written, blame);
        isName = false;
        break;
      }
      default: {
        if (sign !== "-" && (sign < "0" || sign > "9")) break;
        const written = numberAt(text, at);
        at += written.length - 1;
        const fault = depth <= depthMax ? faultOfNumber(written) : null;
        if (fault !== null) blame(fault);
      }
    }
  }
  return faults;
}

type Blame = (detail: string) => void;

/** Moves on after a comma. Returns true if a name follows. */
function nextOf(container: Container | undefined): boolean {
  if (typeof container?.at === "number") container.at++;
  return Boolean(container?.names);
}

function readName(written: string, object: Container | undefined, blame: Blame): void {
  if (!object?.names) return;
  const name = textOf(written);
  object.at = name;
  if (object.names.has(name)) blame("must not occur twice");
  else if (name === "__proto__") blame("must not be named __proto__");
  object.names.add(name);
  blameText(written, blame);
}

/** Only an escape can stand for a character that UTF-8 or JSON does not permit. */
function blameText(written: string, blame: Blame): void {
  if (!written.includes("\\")) return;
  const text = textOf(written);
  if (text.includes("\0")) blame("must not contain the character U+0000");
  if (HALF_A_PAIR.test(text)) blame("must not contain half a surrogate pair");
}

function textOf(written: string): string {
  return written.includes("\\") ? (JSON.parse(written) as string) : written.slice(1, -1);
}

/** Returns the RFC 6901 pointer of the current value. Of a long name it has the beginning and `…`. */
function pointerOf(open: readonly Container[]): string {
  let pointer = "";
  for (const { at } of open) {
    if (pointer.length > POINTER_MAX) break;
    pointer += `/${typeof at === "number" ? at : escapePointer(shown(at))}`;
  }
  return pointer;
}

function shown(name: string): string {
  return name.length > NAME_SHOWN_MAX ? `${name.slice(0, NAME_SHOWN_MAX)}…` : name;
}

/** Returns the position of the quote that ends the string which begins at `start`. */
function lastOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); ; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === "\\") backslashes++;
    if (backslashes % 2 === 0) return quote;
  }
}

function numberAt(text: string, start: number): string {
  NUMBER.lastIndex = start;
  return NUMBER.exec(text)?.[0] ?? "";
}

/** A double keeps every decimal number of so many digits, if it is not too small or too large. */
const DIGITS_KEPT = 15;

/**
 * Returns a rule that the number breaks, or null. What JavaScript writes of a number must equal what was sent, as a decimal: `1.10`
 * may become `1.1`.
 */
export function faultOfNumber(written: string): string | null {
  if (written.length <= DIGITS_KEPT && !/e/i.test(written)) return null;
  const read = Number(written);
  if (Math.abs(read) > Number.MAX_SAFE_INTEGER)
    return "must be a number from -(2^53 - 1) to 2^53 - 1";
  return decimalOf(written) === decimalOf(String(read))
    ? null
    : "must be a number that a 64-bit float keeps exactly: send at most 15 digits, or a string";
}

/** Two numbers are equal if their decimals are. Zero has no sign. */
function decimalOf(written: string): string {
  const [mantissa = "", exponent = "0"] = written.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.replace("-", "").split(".");
  const digits = whole + fraction;
  let start = 0;
  while (digits[start] === "0") start++;
  if (start === digits.length) return "0";
  let end = digits.length;
  while (digits[end - 1] === "0") end--;
  const power = Number(exponent) + whole.length - start;
  return `${mantissa.startsWith("-") ? "-" : ""}0.${digits.slice(start, end)}e${power}`;
}
