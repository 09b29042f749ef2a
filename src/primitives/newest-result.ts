/**
 * Wraps a request for a list that changes. If it is called again before the response, the earlier call returns the later result too:
 * its own may be from before a change.
 */
export function newestResult<Result>(request: () => Promise<Result>): () => Promise<Result> {
  let newest: Promise<Result>;
  return async () => {
    let awaited = (newest = request());
    for (;;) {
      await awaited.catch(() => undefined);
      if (awaited === newest) return awaited;
      awaited = newest;
    }
  };
}
