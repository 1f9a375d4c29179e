import { createContext, type ComponentChildren } from "preact";
import { useCallback, useContext, useState } from "preact/hooks";
import { Dialog } from "./dialog.tsx";

export interface Question {
  title: string;
  /** The effect of a yes. */
  effect: string;
  /** The subject of the question. A paragraph of its own, so that text of a partner's cannot affect the question. */
  subject?: string | null;
  yes: string;
  isDangerous?: boolean;
}

type Ask = (question: Question) => Promise<boolean>;

const ConfirmContext = createContext<Ask>(() => Promise.resolve(false));

/**
 * Returns a function that asks before a change. Enter and Escape mean no. The no says "Go back", because "Cancel" would seem to
 * cancel the job.
 */
export const useConfirm = (): Ask => useContext(ConfirmContext);

export function Confirmations({ children }: { children: ComponentChildren }) {
  const [asked, setAsked] = useState<(Question & { answer: (yes: boolean) => void }) | null>(null);
  const ask = useCallback<Ask>(
    (question) =>
      new Promise((resolve) => {
        const answer = (yes: boolean) => {
          setAsked(null);
          resolve(yes);
        };
        setAsked({ ...question, answer });
      }),
    [],
  );
  return (
    <ConfirmContext.Provider value={ask}>
      {children}
      {asked && (
        <Dialog title={asked.title} onClose={() => asked.answer(false)}>
          <p>{asked.effect}</p>
          {asked.subject && <p class="quiet">{asked.subject}</p>}
          <div class="buttons">
            <button type="button" class="button" onClick={() => asked.answer(false)}>
              Go back
            </button>
            <button
              type="button"
              class={`button main ${asked.isDangerous ? "danger" : ""}`}
              onClick={() => asked.answer(true)}
            >
              {asked.yes}
            </button>
          </div>
        </Dialog>
      )}
    </ConfirmContext.Provider>
  );
}
