/** How long the pauses between attempts to connect are, in milliseconds. */
export interface ReconnectBackoff {
  /** The longest after the first failure; it doubles with each further one. @defaultValue 100 */
  minDelay: number;
  /** The longest of all. @defaultValue 5000 */
  maxDelay: number;
}

/** The pause before the next attempt, between half of a bound that grows and all of it, so that not all come at once. */
export function reconnectDelay(
  failures: number,
  { minDelay, maxDelay }: ReconnectBackoff,
  random: () => number,
): number {
  const bound = Math.min(maxDelay, minDelay * 2 ** Math.min(failures - 1, 30));
  return bound * (0.5 + random() / 2);
}
