import { call } from "../api.js";
import { el } from "../element.js";
import { field, form } from "../form.js";
import { list } from "../list.js";
import { say } from "../notice.js";
import { ifMayChange } from "../session.js";
import { id, link, time } from "../show.js";

const COLUMNS = [
  ["Organization", ({ slug }) => slug],
  ["Id", (organization) => id(organization.id)],
  ["Requests per minute", limitOf],
  ["Keys", ({ slug }) => keysLink(slug)],
  ["Created", ({ created_at }) => time(created_at)],
];

export function organizationsPage(query) {
  const { element, read, add } = list("organizations", query, "Organizations", COLUMNS);
  const slug = field("slug", "Slug (permanent)", { required: true, placeholder: "acme" });
  const create = form([slug], "Create", async (asked, filled) => {
    add(await call("POST", "organizations", asked));
    filled.reset();
    say(`${asked.slug} is created.`);
  });
  return { title: "Organizations", parts: [...ifMayChange(create), element], read };
}

const keysLink = (slug) =>
  Object.assign(link("Keys", "keys", { organization: slug }), { ariaLabel: `Keys of ${slug}` });

function limitOf(organization) {
  const [shown = organization.rate_limit_per_minute] = ifMayChange(limitForm(organization));
  return shown;
}

function limitForm({ id: organization, slug, rate_limit_per_minute: value }) {
  const limit = el("input", {
    ...{ name: "limit", ariaLabel: `Requests per minute of ${slug}` },
    ...{ type: "number", required: true, value },
  });
  return form([limit], "Set", async ({ limit: wanted }) => {
    await call("PATCH", `organizations/${organization}`, { rate_limit_per_minute: Number(wanted) });
    say(`${slug} may make ${wanted} requests per minute.`);
  });
}
