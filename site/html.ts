const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}

/** The visible text of HTML, in one line. */
export function textOf(html: string): string {
  const text = html
    .replace(/<\/?(?:a|code|em|small|span|strong)\b[^>]*>/g, "") // These occur within words or before a full stop.
    .replace(/<[^>]+>/g, " ")
    .replace(/\s+/g, " ")
    .replace(/&#(?:39|x27);/g, "'"); // As marked and highlight.js escape it.
  return Object.entries(ENTITIES)
    .reverse() // `&amp;` last, so that `&amp;lt;` is not unescaped twice.
    .reduce((done, [character, entity]) => done.replaceAll(entity, character), text)
    .trim();
}
