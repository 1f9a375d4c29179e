import { Names, type Row, type Run, Statement, Values } from "./statement.ts";

/** A tag for templates that are statements or parts of statements. */
export interface Sql {
  <Rows extends readonly (object | undefined)[] = Row[]>(
    texts: TemplateStringsArray,
    ...values: unknown[]
  ): Statement<Rows>;
  /** Column names, or any other one name. */
  (names: string | readonly string[]): Names;
  /** Rows to insert, with these columns or all. */
  <Name extends string>(
    rows: Readonly<Record<Name, unknown>> | readonly Readonly<Record<Name, unknown>>[],
    ...columns: Name[]
  ): Values;
  /** A literal text: one statement, several, or a part of one. */
  unsafe: (text: string) => Statement<Row[]>;
}

export function createSql(run: Run): Sql {
  const sql = (first: unknown, ...rest: unknown[]) => {
    if (isTemplate(first)) return new Statement(run, first, rest);
    if (isNames(first)) return new Names(first);
    return new Values(first as object, rest as string[]);
  };
  const unsafe = (text: string) => new Statement<Row[]>(run, [text], []);
  return Object.assign(sql as Sql, { unsafe });
}

function isTemplate(value: unknown): value is TemplateStringsArray {
  return Array.isArray(value) && "raw" in value;
}

function isNames(value: unknown): value is string | string[] {
  return typeof value === "string" || (Array.isArray(value) && typeof value[0] === "string");
}
