/** WCAG's contrast of text. */
const READABLE = 4.5;
const [LIGHT_PANEL, DARK_PANEL, DARK_INK] = ["#f6f7f9", "#212844", "#10142a"];

/** Returns whether white text on this colour, and text of this colour on a light page, can be read. */
export function isReadable(accent: string): boolean {
  return contrast(accent, LIGHT_PANEL) >= READABLE;
}

/** Returns the style with the colours of a brand, `#rrggbb`, for both themes. In the dark one the accent is lightened until it can be read. */
export function brandStyle(accent: string): string {
  const mixes = Array.from({ length: 11 }, (_, tenth) => mix(accent, "#ffffff", tenth / 10));
  const onDark =
    mixes.find(
      (colour) =>
        contrast(colour, DARK_PANEL) >= READABLE && contrast(colour, DARK_INK) >= READABLE,
    ) ?? "#ffffff";
  const soft = `light-dark(${mix(accent, "#ffffff", 0.92)}, ${DARK_PANEL})`;
  return `:root { --accent: light-dark(${accent}, ${onDark}); --on-accent: light-dark(#fff, ${DARK_INK}); --accent-soft: ${soft}; }\n`;
}

function mix(colour: string, other: string, share: number): string {
  const [from, to] = [channels(colour), channels(other)];
  const mixed = from.map((value, i) => Math.round(value + ((to[i] ?? 0) - value) * share));
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

function contrast(one: string, other: string): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function channels(colour: string): number[] {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}
