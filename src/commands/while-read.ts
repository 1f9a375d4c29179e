/** Aborts when the reader of our output has ended, as after `| head -1`. */
const unread = new AbortController();

export function noteUnread(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") {
    process.stderr.write(
      `error: cannot write to standard output (${error.code ?? error.message})\n`,
    );
    process.exit(1);
  }
  unread.abort(error);
}

/** Runs `show` until a signal, or until the reader of our output has ended. The latter is no error. */
export async function whileRead(show: (stop: AbortSignal) => Promise<void>): Promise<void> {
  try {
    await show(AbortSignal.any([stopSignal(), unread.signal]));
  } catch (error) {
    if (!unread.signal.aborted) throw error;
  }
}

/** Aborts at the first signal. The listeners of the signal clean up. */
function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => stop.abort(new Error(`the command was ended by ${signal}`)));
  }
  return stop.signal;
}
