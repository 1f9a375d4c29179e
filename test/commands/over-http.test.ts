import { goThroughService } from "../support/command-line.ts";

/** The tests of all verbs once more, through the operator API of a running service in place of the database. */
goThroughService();
for (const name of ["org", "key", "subscription", "delivery", "event-publish"]) {
  await import(`./${name}.test.js`);
}
