import { createContext, type ComponentChildren } from "preact";
import { useContext, useEffect, useMemo, useState } from "preact/hooks";

const SHOWN_MS = 6_000;

interface Report {
  /** Says that something was done. */
  say: (text: string) => void;
  /** Says why something was not done. It stays until the next report or page. */
  warn: (text: string) => void;
}

const ReportContext = createContext<Report>({ say: () => undefined, warn: () => undefined });

export const useReport = (): Report => useContext(ReportContext);

export function Toasts({ children }: { children: ComponentChildren }) {
  const [shown, setShown] = useState<{ text: string; isWarning: boolean } | null>(null);
  const report = useMemo(
    () => ({
      say: (text: string) => setShown({ text, isWarning: false }),
      warn: (text: string) => setShown({ text, isWarning: true }),
    }),
    [],
  );

  useEffect(() => {
    const clear = () => setShown((last) => (last?.isWarning ? null : last));
    window.addEventListener("hashchange", clear);
    return () => window.removeEventListener("hashchange", clear);
  }, []);
  useEffect(() => {
    if (shown === null || shown.isWarning) return;
    const timer = setTimeout(() => setShown(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [shown]);

  return (
    <ReportContext.Provider value={report}>
      {children}
      <div class="toasts" role="status" id="notice">
        {shown && <p class={`toast ${shown.isWarning ? "error" : ""}`}>{shown.text}</p>}
      </div>
    </ReportContext.Provider>
  );
}
