import fc from "fast-check";
import { type Described, hasRight, right } from "./fitting.ts";
import { junkName, junkValue } from "./junk.ts";

/** A valid body with some members omitted, changed, repeated or invented. */
export function bodyOf({ properties = {}, examples = [{}] }: Described): fc.Arbitrary<string> {
  const members = Object.keys(properties);
  const fitting = fc
    .tuple(
      fc.constantFrom(...examples),
      fc.record(Object.fromEntries(members.filter(hasRight).map((m) => [m, right(m)]))),
    )
    .map(([example, known]) => ({ ...example, ...known }));
  const bent = fc
    .tuple(
      fitting,
      fc.dictionary(fc.oneof(fc.constantFrom(...members), junkName), junkValue, { maxKeys: 2 }),
      fc.option(fc.constantFrom(...members)),
      fc.oneof(fc.constantFrom(...members), junkName),
      junkValue,
    )
    .map(([body, changes, left, name, value]) => {
      const kept = Object.entries({ ...body, ...changes }).filter(([member]) => member !== left);
      const again = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
      const all = [...kept.map(([m, v]) => `${JSON.stringify(m)}:${JSON.stringify(v)}`), again];
      return `{${all.join()}}`;
    });
  return fc.oneof(
    fitting.map((body) => JSON.stringify(body)),
    bent,
  );
}
