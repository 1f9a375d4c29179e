/** Everything that is made anew for each world: ids, secrets, cursors, and what an organization is called. */
const MADE =
  /(?:wh|evt|att|dlv|org)_[0-9a-f-]{36}|org-[0-9a-f-]{36}|whsec_[\w+/]{44}|"next_cursor":"[\w-]+"|"key_id":"\w+"/g;

/** The same text with such things numbered in the order of their appearance, so that two worlds can be compared. */
export function renamed(value: unknown): unknown {
  const names = new Map<string, string>();
  const text = JSON.stringify(value).replace(MADE, (made) => {
    const name = names.get(made) ?? `${made.slice(0, 3)}#${names.size + 1}`;
    names.set(made, name);
    return made.startsWith('"') ? JSON.stringify(name) + ":0" : name;
  });
  return JSON.parse(text);
}
