import type { AST } from "@eslint-community/regexpp";

/** How the steps of a match grow with the length of the text: `factor` times its length to the power of `degree`. */
interface PatternCost {
  factor: number;
  /** Infinity: the steps may double with each character. */
  degree: number;
}

const UNBOUNDED: PatternCost = { factor: 1, degree: Infinity };
/** A quantifier that permits more repetitions counts as one without a maximum. */
const REPEATED_MAX = 64;

/** Bounds the steps that a backtracking engine needs for a pattern. */
export type PatternCosts = (pattern: string) => PatternCost;

/** The parser is loaded when asked for. */
export async function patternCosts(): Promise<PatternCosts> {
  const { RegExpParser } = await import("@eslint-community/regexpp");
  const parser = new RegExpParser();
  return (pattern) => {
    const { alternatives } = parser.parsePattern(pattern, undefined, undefined, { unicode: true });
    const parts = alternatives.map(ofAlternative);
    return {
      factor: parts.reduce((sum, { factor }) => sum + factor, 0),
      degree: Math.max(...parts.map(({ degree }) => degree)),
    };
  };
}

function ofAlternative({ elements }: AST.Alternative): PatternCost {
  const { factor, open, isLong } = sequence(elements);
  const [first] = elements;
  const isAnchored = first?.type === "Assertion" && first.kind === "start";
  // The last choice is only tried once for each choice before it. Without an anchor a match may begin anywhere.
  const degree = 1 + Math.max(0, open.length - 1) + (isLong && !isAnchored ? 1 : 0);
  return open.includes(null) ? UNBOUNDED : { factor, degree };
}

/** The choices of a sequence. `open` has a quantifier for each choice that grows with the text, and null where choices multiply. */
interface Choices {
  factor: number;
  open: (AST.Quantifier | null)[];
  /** Whether it may match text of any length. */
  isLong: boolean;
}

const MULTIPLYING: Choices = { factor: 1, open: [null], isLong: true };
const NO_CHOICE: Choices = { factor: 1, open: [], isLong: false };

function sequence(elements: readonly AST.Element[]): Choices {
  return elements.reduce<Choices>((before, element, i) => {
    const { factor, open, isLong } = choicesOf(element, elements[i + 1]);
    return {
      factor: before.factor * factor,
      open: [...before.open, ...open],
      isLong: before.isLong || isLong,
    };
  }, NO_CHOICE);
}

function choicesOf(element: AST.Element, next: AST.Element | undefined): Choices {
  switch (element.type) {
    case "Character":
    case "CharacterSet":
    case "CharacterClass":
      return NO_CHOICE;
    case "Assertion":
      return element.kind === "lookahead" || element.kind === "lookbehind"
        ? oneOf(element.alternatives)
        : NO_CHOICE;
    case "Group":
    case "CapturingGroup":
      return oneOf(element.alternatives);
    case "Quantifier":
      return repeated(element, next);
    case "Backreference":
    case "ExpressionCharacterClass":
      return MULTIPLYING;
  }
}

function oneOf(alternatives: readonly AST.Alternative[]): Choices {
  const all = alternatives.map(({ elements }) => sequence(elements));
  return {
    factor: all.reduce((sum, { factor }) => sum + factor, 0),
    open: all.flatMap(({ open }) => open),
    isLong: all.some(({ isLong }) => isLong),
  };
}

function repeated(quantifier: AST.Quantifier, next: AST.Element | undefined): Choices {
  const { min, max, element } = quantifier;
  const inner = choicesOf(element, undefined);
  const hasChoice = inner.factor > 1 || inner.isLong;
  if (max <= 1) return { ...inner, factor: inner.factor * (2 - min) };
  if (max <= REPEATED_MAX && !inner.isLong) {
    return { ...inner, factor: inner.factor ** max * (max - min + 1) };
  }
  if (hasChoice && !isSeparated(element)) return MULTIPLYING;
  const endsAtOnce = next !== undefined && areDisjoint(element, next);
  return { factor: 1, open: endsAtOnce ? [] : [quantifier], isLong: true };
}

/** Whether each repetition begins with a character that none of its repeated parts can match, as in `(-[a-z]+)*`. */
function isSeparated(element: AST.Element): boolean {
  if (element.type !== "Group" && element.type !== "CapturingGroup") return false;
  const [only, ...others] = element.alternatives;
  const [first, ...rest] = only?.elements ?? [];
  if (!only || others.length > 0 || !first || !isCharacter(first)) return false;
  const repeats = rest.filter((part) => !isCharacter(part));
  return (
    repeats.length <= 1 &&
    repeats.every((part) => part.type === "Quantifier" && areDisjoint(part.element, first))
  );
}

function areDisjoint(one: AST.Element, other: AST.Element): boolean {
  if (!isCharacter(one) || !isCharacter(other)) return false;
  const [a, b] = [one, other].map(({ raw }) => new RegExp(`^(?:${raw})$`, "u"));
  return (
    SAMPLES.every((sample) => !a?.test(sample) || !b?.test(sample)) && [one, other].some(isAscii)
  );
}

function isCharacter(
  element: AST.Element,
): element is AST.Character | AST.CharacterClass | AST.CharacterSet {
  return ["Character", "CharacterClass", "CharacterSet"].includes(element.type);
}

/** Whether it matches characters of ASCII only. */
function isAscii(element: AST.Element): boolean {
  if (element.type === "Character") return element.value < 128;
  if (element.type !== "CharacterClass" || element.negate) return false;
  return element.elements.every(
    (part) =>
      (part.type === "Character" && part.value < 128) ||
      (part.type === "CharacterClassRange" && part.max.value < 128) ||
      (part.type === "CharacterSet" && part.kind === "digit" && !part.negate),
  );
}

const SAMPLES = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));
