import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { useReport } from "./toasts.tsx";
import { Icon, type IconName } from "./icon.tsx";

interface Props {
  act: () => unknown;
  children: ComponentChildren;
  kind?: string;
  icon?: IconName;
  disabled?: boolean;
  title?: string;
}

/** A button that ignores clicks until its action has ended, and reports its error. */
export function Button({ act, children, kind = "", icon, disabled = false, title }: Props) {
  const [run, isRunning] = useAction(act);
  return (
    <button
      type="button"
      class={`button ${kind}`}
      disabled={disabled}
      aria-busy={isRunning}
      title={title}
      onClick={run}
    >
      {icon && <Icon name={icon} size={14} />}
      {children}
    </button>
  );
}

/** Runs one action at a time. A further call while it runs is ignored. */
export function useAction<T extends unknown[]>(
  act: (...given: T) => unknown,
): [(...given: T) => void, boolean] {
  const [isRunning, setIsRunning] = useState(false);
  const running = useRef(false);
  const { warn } = useReport();
  const run = async (...given: T) => {
    if (running.current) return;
    running.current = true;
    setIsRunning(true);
    try {
      await act(...given);
    } catch (error) {
      warn(error instanceof Error ? error.message : String(error));
    } finally {
      running.current = false;
      setIsRunning(false);
    }
  };
  return [(...given) => void run(...given), isRunning];
}
