const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}

/** What a reader sees of some HTML, in one line. */
export function textOf(html: string): string {
  const text = html
    .replace(/<\/?(?:a|code|em|small|span|strong)\b[^>]*>/g, "") // Within words, or beside a full stop.
    .replace(/<[^>]+>/g, " ")
    .replace(/\s+/g, " ")
    .replace(/&#(?:39|x27);/g, "'"); // As the renderer and the colourist write it.
  return Object.entries(ENTITIES)
    .reverse() // `&amp;` last, or `&amp;lt;` would be undone twice.
    .reduce((done, [character, entity]) => done.replaceAll(entity, character), text)
    .trim();
}
