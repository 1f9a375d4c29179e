import assert from "node:assert/strict";
import { before, test } from "node:test";
import fc from "fast-check";
import { byPointer, toEvent } from "../../../src/bridge/event.ts";
import { createPartitions } from "../../../src/jobs/maintenance-sql.ts";
import { parseId } from "../../../src/lib/ids.ts";
import { faultOfNumber } from "../../../src/subjects/events/json-document.ts";
import { publish, type PublishedView } from "../../../src/subjects/events/publish.ts";
import { column } from "../../support/columns.ts";
import { createCommandLine } from "../../support/command-line.ts";
import { createDatabase, ownerOf } from "../../support/database.ts";
import { aPublisherApi } from "../../support/publisher-api.ts";

const db = await createDatabase();
const owner = ownerOf(db);
const TYPE = "note.added";

before(async () => {
  await createPartitions(db, new Date());
  await owner`insert into event_types (name, added_at) values (${TYPE}, ${new Date()})`;
});

/** Publishes data by its text. Resolves with the id of the event, or with null if the data is refused. */
type Way = (data: string) => Promise<string | null>;

async function everyWayIn(t: Parameters<typeof aPublisherApi>[0]): Promise<Record<string, Way>> {
  const { deps, postText, id: organizationId, slug } = await aPublisherApi(t, db);
  const { run } = createCommandLine(deps);
  const send = async (body: string) => {
    const { statusCode, payload } = await postText(body);
    assert.ok(statusCode === 202 || statusCode === 422, payload);
    return statusCode === 202 ? (JSON.parse(payload) as { items: PublishedView[] }).items : [];
  };
  const sent = async (event: string) =>
    parseId("evt", (await send(`{"events":[${event}]}`))[0]?.event_id ?? "");
  return {
    http: (data) => sent(`{"organization":"${slug}","type":"${TYPE}","data":${data}}`),
    bridge: (data) => {
      const body = `{"organization": "${slug}", "type": "${TYPE}", "data": ${data}}`;
      const message = { lane: "", identity: null, body, headers: new Map(), from: {} };
      const mapping = byPointer("organization", "type", "data");
      const key = { dedupe_key: { constant: JSON.stringify(crypto.randomUUID()) } };
      return sent(toEvent(message, { source: "shop", mapping, defaults: key }).json);
    },
    "the command line": async (data) => {
      const event = ["--organization", slug, "--type", TYPE, "--data", data, "--json"];
      const { status, stdout } = await run("event", "publish", ...event);
      return status === 0 ? parseId("evt", (JSON.parse(stdout) as PublishedView).event_id) : null;
    },
    TypeScript: async (data) => {
      try {
        const events = [{ organizationId, type: TYPE, data }];
        const published = await db.begin((tx) => publish(deps, tx, events.concat(events)));
        return published[0]?.eventId ?? null;
      } catch (error) {
        assert.match(String(error), /^TypeError: data.* of note\.added (?:must|is nested) /);
        return null;
      }
    },
    SQL: async (data) => {
      try {
        const [row] = await owner<[{ id: string }]>`
          select partner_api_publish(${slug}, ${TYPE}, ${data}::text::jsonb) as id`;
        return row.id;
      } catch (error) {
        const { code = "" } = error as { code?: string };
        // Ours, and what jsonb refuses: U+0000, half a surrogate pair, and a number out of its range.
        assert.ok(["22023", "22P05", "22P02", "22003"].includes(code), String(error));
        return null;
      }
    },
  };
}

const nested = (depth: number) => `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`;
const many = (bytes: number) => `{"a":[${"7,".repeat((bytes - 9) / 2)}7]}`;

const KEPT: Record<string, string> = {
  nothing: "{}",
  "names that objects of JavaScript inherit":
    '{"constructor":{"prototype":1},"toString":1,"":[{}]}',
  "names that look like pointers": '{"a/b":1,"~":2,"~1":3,"0":4,"-":5}',
  "__proto__ beside names": String.raw`{"_proto_":1,"__proto__x":1,"x__proto__":{" __proto__":1},"{\"__proto__\":":1}`,
  "__proto__ in texts": String.raw`{"a":"__proto__","b":[" \"__proto__\": 1","{\"__proto__\":"],"c":"\\"}`,
  "numbers that a double keeps":
    '{"n":[9007199254740991,-9007199254740991,-0,0.0,1.10,1E2,0.1,2.2250738585072014e-308,5e-324,0.30000000000000004]}',
  "digits in texts and names": '{"9007199254740993":"123456789012345.123456","n":["1e-400"]}',
  "characters at the edges": String.raw`{"a":"\u001f\u007f\u2028\ud83d\ude00\"\\\/","é\udbff\udfff":"\n\t"}`,
  "space between values": '\t{ "a" :\n[ 1 , "b  c" , {\r\n} ] }\n',
  "100 levels": nested(99),
  "256 KiB of small values": many(262_143),
  "256 KiB of text": `{"a":"${'é\\\\\\"'.repeat(43_689)}"}`,
};

const LOST: Record<string, string> = {
  "a list": "[]",
  "a number": "1",
  __proto__: '{"__proto__":1}',
  "__proto__ within": '{"b":[{"a":1,"__proto__":{}}]}',
  "__proto__ with an escape": String.raw`{"a":{"b":"\\","_\u005fproto__":null}}`,
  "an integer beyond 2^53 - 1": '{"n":[1,9007199254740993]}',
  "too many digits": '{"a":{"n":123456789012345.123456}}',
  "too small a number": '{"n":1e-400}',
  "too large a number": '{"n":1e400}',
  "U+0000": String.raw`{"a":["\u0000"]}`,
  "U+0000 in a name": String.raw`{"\u0000":1}`,
  "half a surrogate pair": String.raw`{"a":"\ud800"}`,
  "101 levels": nested(100),
  "more than 256 KiB of small values": many(262_145),
  "more than 256 KiB of text": `{"a":"${"é".repeat(131_069)}"}`,
};

test("every way in accepts the same data, and stores it unchanged", async (t) => {
  const ways = await everyWayIn(t);
  for (const [what, data] of Object.entries(KEPT)) {
    const expected: unknown = JSON.parse(JSON.stringify(JSON.parse(data))); // Zero has no sign.
    for (const [way, publishBy] of Object.entries(ways)) {
      const id = await publishBy(data);
      const [event] = await db<{ data: string }[]>`select data from events where id = ${id}`;
      assert.ok(event, `${way} refuses ${what}`);
      assert.deepEqual(JSON.parse(event.data), expected, `${way} changes ${what}`);
    }
  }
});

test("every way in refuses the same data", async (t) => {
  const ways = await everyWayIn(t);
  for (const [what, data] of Object.entries(LOST)) {
    for (const [way, publishBy] of Object.entries(ways)) {
      assert.equal(await publishBy(data), null, `${way} accepts ${what}`);
    }
  }
});

test("every way in that gets a text refuses a member that occurs twice", async (t) => {
  const { SQL, ...ways } = await everyWayIn(t);
  for (const [way, publishBy] of Object.entries(ways)) {
    assert.equal(await publishBy('{"a":1,"a":2}'), null, way);
  }
  assert.notEqual(await SQL?.('{"a":1,"a":2}'), null); // jsonb has kept the last one.
});

test("SQL and HTTP keep the same numbers", async () => {
  const number = fc
    .tuple(
      ...[fc.constantFrom("", "-"), fc.maxSafeNat(), fc.option(fc.stringMatching(/^[0-9]{1,20}$/))],
      fc.option(fc.integer({ min: -345, max: 330 })),
    )
    .map(
      ([sign, whole, fraction, power]) =>
        `${sign}${whole}${fraction ? `.${fraction}` : ""}${power === null ? "" : `e${power}`}`,
    );
  const doubles = fc.double({ noNaN: true, noDefaultInfinity: true }).map(String);
  const texts = fc.sample(fc.oneof(number, doubles), 5_000);
  const rows = await owner<{ kept: boolean }[]>`
    select keeps_numbers(jsonb_build_array(text::jsonb)) as kept
      from unnest(${texts}::text[]) with ordinality as t (text, place) order by place`;
  assert.deepEqual(
    column(rows, "kept"),
    texts.map((text) => faultOfNumber(text) === null),
  );
});
