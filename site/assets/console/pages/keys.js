import { call } from "../api.js";
import { el } from "../element.js";
import { button, choice, field, form } from "../form.js";
import { list } from "../list.js";
import { say } from "../notice.js";
import { confirmed } from "../question.js";
import { ifMayChange } from "../session.js";
import { id, badge, names, time } from "../show.js";

const COLUMNS = [
  ["Key", ({ key_id }) => id(key_id)],
  ["Label", ({ label }) => label],
  ["Scopes", ({ scopes }) => names(scopes)],
  ["Created", ({ created_at }) => time(created_at)],
  ["Last used", ({ last_used_at }) => time(last_used_at)],
  ["State", ({ revoked_at }) => badge(revoked_at ? "revoked" : "active")],
];

export function keysPage({ organization = "", ...query }) {
  const asked = { ...query, organization, include_revoked: "true" };
  const columns = [...COLUMNS, ...ifMayChange(["Action", revocation])];
  const { element, read, add } = list("keys", asked, "Keys", columns);
  const issued = el("p", { className: "issued", role: "status", hidden: true });
  const fields = [
    field("label", "Label"),
    choice("scope", "Additional scope", { "webhooks:manage": "webhooks:manage" }, { none: "none" }),
  ];
  const create = form(fields, "Create key", async ({ scope, ...said }, filled) => {
    const scopes = scope ? [scope] : [];
    const { token, ...key } = await call("POST", "keys", { ...said, organization, scopes });
    filled.reset();
    issued.replaceChildren("The token, shown only once: ", el("code", {}, token));
    issued.hidden = false;
    add({ ...key, last_used_at: null, revoked_at: null });
  });
  return {
    title: `Keys of ${organization}`,
    parts: [...ifMayChange(create, issued), element],
    read,
  };
}

function revocation(key, redraw) {
  return key.revoked_at ? null : button("Revoke", () => revoke(key, redraw), "danger");
}

async function revoke(key, redraw) {
  const { key_id, label } = key;
  const question = `Revoke ${key_id}? It stops working at once.`;
  if (!(await confirmed(question, label ?? "No label.", "Revoke key"))) return;
  await call("DELETE", `keys/${key_id}`);
  redraw({ ...key, revoked_at: "now" }); // The table does not show the time.
  say(`${key_id} is revoked.`);
}
