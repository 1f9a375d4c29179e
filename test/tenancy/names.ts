/** Everything that differs between runs: ids, secrets, cursors and slugs. */
const MADE =
  /(?:wh|evt|att|dlv|org)_[0-9a-f-]{36}|org-[0-9a-f-]{36}|whsec_[\w+/]{44}|"next_cursor":"[\w-]+"|"key_id":"\w+"/g;

/** Numbers such values in order of appearance, so that two runs can be compared. */
export function renamed(value: unknown): unknown {
  const names = new Map<string, string>();
  const text = JSON.stringify(value).replace(MADE, (made) => {
    const name = names.get(made) ?? `${made.slice(0, 3)}#${names.size + 1}`;
    names.set(made, name);
    return made.startsWith('"') ? JSON.stringify(name) + ":0" : name;
  });
  return JSON.parse(text);
}
