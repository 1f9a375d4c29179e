import { createHash } from "node:crypto";
import { escapeIdentifier, type QueryResultRow } from "pg";

export type Row = QueryResultRow;

/** A part of another statement. */
export type Fragment = Statement<unknown>;

/** The rows of a statement, and the number of rows that it read or wrote. */
export type Answer<Rows> = Rows & { readonly count: number };

/** A statement in the driver's form. A named one is parsed once on each connection. */
export interface Prepared {
  name?: string;
  text: string;
  values?: unknown[];
}

export type Run = (statement: Prepared) => Promise<Answer<Row[]>>;

/** Runs when it is first awaited, or at once by `execute`. A part of another statement does not run. */
export class Statement<Rows> implements Promise<Answer<Rows>> {
  readonly [Symbol.toStringTag] = "Statement";
  readonly texts: readonly string[];
  readonly values: unknown[];
  readonly #run: Run;
  #answer: Promise<Answer<Rows>> | undefined;

  constructor(run: Run, texts: readonly string[], values: unknown[]) {
    this.#run = run;
    this.texts = texts;
    this.values = values;
  }

  execute(): Promise<Answer<Rows>> {
    this.#answer ??= this.#run(prepare(this)) as Promise<unknown> as Promise<Answer<Rows>>;
    return this.#answer;
  }

  then<A = Answer<Rows>, B = never>(
    onAnswer?: ((answer: Answer<Rows>) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.execute().then(onAnswer, onError);
  }

  catch<B = never>(
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<Answer<Rows> | B> {
    return this.execute().catch(onError);
  }

  finally(onEnd?: (() => void) | null): Promise<Answer<Rows>> {
    return this.execute().finally(onEnd);
  }
}

/** Names of tables, columns or roles, quoted. */
export class Names {
  readonly text: string;

  constructor(names: string | readonly string[]) {
    this.text = [names].flat().map(escapeIdentifier).join(", ");
  }
}

/** Rows to insert. */
export class Values {
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];

  constructor(rows: object | readonly object[], columns: readonly string[]) {
    this.rows = [rows].flat() as Record<string, unknown>[];
    this.columns = columns.length > 0 ? columns : Object.keys(this.rows[0] ?? {});
  }
}

const whole = new WeakMap<readonly string[], Prepared>();

function prepare({ texts, values }: Statement<unknown>): Prepared {
  if (!("raw" in texts)) return { text: texts.join("") };
  return values.some(isPart) ? prepareParts(texts, values) : prepareWhole(texts, values);
}

/** A template without parts always has the same text, so it is built once. */
function prepareWhole(texts: readonly string[], values: unknown[]): Prepared {
  let known = whole.get(texts);
  if (!known) {
    known = named(texts.reduce((before, next, index) => `${before}$${index}${next}`));
    whole.set(texts, known);
  }
  return { ...known, values };
}

function prepareParts(texts: readonly string[], values: unknown[]): Prepared {
  const parameters: unknown[] = [];
  const text = join(texts, values);
  const isOnce = values.some((value) => value instanceof Values); // The text depends on the number of rows.
  return { ...(isOnce ? { text } : named(text)), values: parameters };

  function join(texts: readonly string[], values: unknown[]): string {
    return texts.reduce((before, next, index) => before + write(values[index - 1]) + next);
  }

  function write(value: unknown): string {
    if (value instanceof Names) return value.text;
    if (value instanceof Statement) return join(value.texts, value.values);
    if (!(value instanceof Values)) return `$${parameters.push(value)}`;
    const { columns, rows } = value;
    const tuples = rows.map((row) => `(${columns.map((name) => write(row[name])).join(", ")})`);
    return `(${new Names(columns).text}) values ${tuples.join(", ")}`;
  }
}

function isPart(value: unknown): boolean {
  return value instanceof Statement || value instanceof Names || value instanceof Values;
}

/** The largest number of named texts, because each connection keeps them parsed. */
const NAMED_MAX = 1_000;
const names = new Map<string, string>();

/** The name is a hash of the text, so that a pooler cannot confuse two statements. */
function named(text: string): Prepared {
  let name = names.get(text);
  if (name === undefined) {
    if (names.size >= NAMED_MAX) return { text };
    name = createHash("sha256").update(text).digest("base64url");
    names.set(text, name);
  }
  return { name, text };
}
