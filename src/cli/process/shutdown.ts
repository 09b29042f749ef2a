/** Time limit of a graceful shutdown, in milliseconds. */
export const shutdownTimeout = 5_000;

/**
 * Shuts down on SIGINT and SIGTERM. The first signal starts a graceful shutdown and exits with 0, or with 1 if `stop`
 * rejects; a second signal exits immediately.
 *
 * @param timeout - time limit of the graceful shutdown, in milliseconds. The process exits 2 s later at the latest.
 */
export function stopOnSignals(
  stop: () => Promise<void>,
  onError: (thrown: unknown) => void,
  timeout = shutdownTimeout,
): void {
  let isStopping = false;
  const onSignal = (_signal: NodeJS.Signals, number: number): void => {
    if (isStopping) process.exit(128 + number);
    isStopping = true;
    setTimeout(() => process.exit(0), timeout + 2_000).unref();
    stop().then(
      () => process.exit(0),
      (thrown: unknown) => {
        onError(thrown);
        process.exit(1);
      },
    );
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
}
