// Shows the progress of a long step: one live line on a terminal, otherwise a line at least every 8 seconds.

const heartbeat = 8_000;

/**
 * Shows the progress of a step until `end` is called.
 * @param {() => string} status returns the current state of the step in a few words
 * @param {{ output?: NodeJS.WriteStream, start?: number }} options where to write, and when the step has started, in milliseconds
 *   of `performance.now`
 */
export function showProgress(
  name,
  status = () => '',
  { output = process.stdout, start = performance.now() } = {},
) {
  let lastLine = performance.now();
  const seconds = (now = performance.now()) => formatDuration(now - start);
  const label = `${name.padEnd(8)} `;
  const tick = setInterval(
    () => {
      const text = [seconds(), status()].filter((part) => part !== '').join(', ');
      if (output.isTTY) output.write(`\r\u001B[K${`${label}${text}`.slice(0, (output.columns ?? 80) - 1)}`);
      else if (performance.now() - lastLine >= heartbeat) print(`… ${text}`);
    },
    output.isTTY ? 200 : 500,
  );
  function print(text) {
    output.write(`${output.isTTY ? '\r\u001B[K' : ''}${label}${text}\n`);
    lastLine = performance.now();
  }
  return {
    /** Prints a permanent line. */
    print,
    /** Prints a line unless the live line shows the same. */
    printUnlessLive: (text) => {
      if (!output.isTTY) print(text);
    },
    /**
     * Prints the result of the step with its duration.
     * @param {number} [end] when the step has ended, in milliseconds of `performance.now`
     */
    end: (result, end) => {
      clearInterval(tick);
      print(`${result} in ${seconds(end)}`);
    },
  };
}

/** Formats milliseconds as `1.2 s` or `3:04 min`. */
export function formatDuration(milliseconds) {
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')} min`;
}
