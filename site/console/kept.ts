interface Kept {
  read: () => string | null;
  /** Null removes it. */
  write: (text: string | null) => void;
}

/** A text that the browser keeps. One that blocks cookies refuses its storages too: then it is kept until the page is left. */
export function kept(area: "localStorage" | "sessionStorage", key: string): Kept {
  let here: string | null = null;
  return {
    read: () => {
      try {
        return window[area].getItem(key);
      } catch {
        return here;
      }
    },
    write: (text) => {
      here = text;
      try {
        if (text === null) window[area].removeItem(key);
        else window[area].setItem(key, text);
      } catch {
        // It is `here`.
      }
    },
  };
}
