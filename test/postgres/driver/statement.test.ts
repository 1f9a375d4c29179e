import assert from "node:assert/strict";
import { test } from "node:test";
import { createSql } from "../../../src/postgres/driver/sql.ts";
import type { Prepared } from "../../../src/postgres/driver/statement.ts";
import { columns } from "../../support/columns.ts";
import { createDatabase } from "../../support/database.ts";

const db = await createDatabase({ max: 1 });

/** A tag that records its statements in a list. */
function aTag() {
  const sent: Prepared[] = [];
  const sql = createSql((statement) => {
    sent.push(statement);
    return Promise.resolve(Object.assign([], { count: 0 }));
  });
  return { sql, sent };
}

test("values of every used type reach the database and return unchanged", async () => {
  const values = {
    text: "naïve € \\ ' \"",
    number: 1.5,
    truth: false,
    nothing: null,
    bytes: Buffer.from([0, 1, 255]),
    time: new Date("2026-01-02T03:04:05.678Z"),
    texts: ["NULL", "a,b", '"', "\\", "", null],
    numbers: [1, -2],
    times: [new Date(0), null],
  };
  const [row] = await db`
    select ${values.text}::text as text, ${values.number}::float8 as number, ${values.truth}::boolean as truth,
           ${values.nothing}::text as nothing, ${values.bytes}::bytea as bytes, ${values.time}::timestamptz as time,
           ${values.texts}::text[] as texts, ${values.numbers}::int[] as numbers, ${values.times}::timestamptz[] as times`;
  assert.deepEqual(row, values);
});

test("undefined becomes null, and a large number becomes text", async () => {
  const [row] = await db`select ${undefined}::text as absent, 9007199254740993::bigint as large`;
  assert.deepEqual(row, { absent: null, large: "9007199254740993" });
});

test("a statement is composed of parts, names and rows", () => {
  const { sql, sent } = aTag();
  const part = sql`and b = ${2} ${sql``} and ${sql('odd"name')} = ${3}`;
  void sql`select ${sql(["a", "b"])} from t where a = ${1} ${part}`.execute();
  const rows = [
    { a: 1, b: 2 },
    { a: 3, b: 4 },
  ];
  void sql`insert into t ${sql(rows, "b")}`.execute();
  void sql`insert into t ${sql({ a: 1, b: 2 })}`.execute();
  void sql.unsafe("select 1; select 2").execute();
  assert.deepEqual(columns(sent, "text", "values"), [
    ['select "a", "b" from t where a = $1 and b = $2  and "odd""name" = $3', [1, 2, 3]],
    ['insert into t ("b") values ($1), ($2)', [2, 4]],
    ['insert into t ("a", "b") values ($1, $2)', [1, 2]],
    ["select 1; select 2", undefined],
  ]);
});

test("a statement runs once even if it is awaited several times, and a part never runs", async () => {
  const { sql, sent } = aTag();
  const statement = sql`select 1`;
  void sql`never`;
  await Promise.all([statement, statement, statement.execute(), statement.then(() => 0)]);
  assert.equal(sent.length, 1);
});

test("a statement's name stands for one text in every process", () => {
  const [one, other] = [aTag(), aTag()];
  const ask = ({ sql }: typeof one, part: string) =>
    void sql`select ${sql(part)} ${sql`where a = ${1}`}`.execute();
  ask(one, "a");
  ask(one, "b");
  ask(other, "b");
  const names = [...one.sent, ...other.sent].map(({ name }) => name);
  assert.match(names[0] ?? "", /^[\w-]{43}$/);
  assert.notEqual(names[0], names[1]);
  assert.equal(names[1], names[2]);
});

test("statements of variable text, and those above the maximum, have no name", () => {
  const { sql, sent } = aTag();
  void sql`insert into t ${sql([{ a: 1 }])}`.execute();
  for (let n = 0; n < 1_001; n++) void sql`select ${sql(`c${n}`)}`.execute();
  assert.equal(sent[0]?.name, undefined);
  assert.equal(sent.at(-1)?.name, undefined);
});
