/** How long a graceful stop may take, in milliseconds. */
export const shutdownTimeout = 5_000;

/**
 * Stops when the terminal or the system asks for it: the first signal stops gracefully and ends with exit code 0, or 1
 * if that fails; a second one ends at once.
 *
 * @param within - how long a graceful stop may take, in milliseconds.
 */
export function stopOnSignals(
  stop: () => Promise<void>,
  onFailure: (thrown: unknown) => void,
  within = shutdownTimeout,
): void {
  let isStopping = false;
  const onSignal = (_signal: NodeJS.Signals, number: number): void => {
    if (isStopping) process.exit(128 + number);
    isStopping = true;
    // Whatever does not let go is left behind.
    setTimeout(() => process.exit(0), within + 2_000).unref();
    stop().then(
      () => process.exit(0),
      (thrown: unknown) => {
        onFailure(thrown);
        process.exit(1);
      },
    );
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
}
