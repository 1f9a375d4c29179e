import { useEffect, useState } from "preact/hooks";
import { kept } from "../kept.ts";
import { Segments } from "./segments.tsx";

type Theme = "auto" | "light" | "dark";

const chosen = kept("localStorage", "console-theme");

/** Charts are canvas, so they must repaint at a change. */
export const THEME_CHANGED = "theme-changed";

export function ThemeChoice() {
  const [theme, setTheme] = useState<Theme>(storedTheme);
  useEffect(() => {
    chosen.write(theme);
    applyTheme(theme);
  }, [theme]);
  return (
    <Segments
      label="Theme"
      options={{ auto: "Auto", light: "Light", dark: "Dark" }}
      value={theme}
      choose={setTheme}
    />
  );
}

export function storedTheme(): Theme {
  const stored = chosen.read();
  return stored === "light" || stored === "dark" ? stored : "auto";
}

export function applyTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
  window.dispatchEvent(new Event(THEME_CHANGED));
}
