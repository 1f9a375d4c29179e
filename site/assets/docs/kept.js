/** A text that the browser keeps. One that blocks cookies refuses its storage too: then it is kept until the page is left. */
export function kept(key) {
  let here = null;
  return {
    read: () => {
      try {
        return localStorage.getItem(key);
      } catch {
        return here;
      }
    },
    write: (text) => {
      here = text;
      try {
        localStorage.setItem(key, text);
      } catch {
        // It is `here`.
      }
    },
  };
}
