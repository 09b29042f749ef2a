/** What the machine is still doing for somebody: names, files, connections that are being made, signatures. */
const working = /Req|ConnectWrap$|Job$/;

/** For how many milliseconds at most such work is waited for. */
const longestWork = 1_000;

/**
 * Waits until nothing is going on: a number of turns of the event loop in which whatever is on a socket of this
 * machine is served, and the end of what the machine works on meanwhile.
 */
export async function quiet(turns: number): Promise<void> {
  const giveUp = performance.now() + longestWork;
  for (;;) {
    for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
    if (!process.getActiveResourcesInfo().some((name) => working.test(name))) return;
    if (performance.now() > giveUp) return;
    await new Promise<void>((resolve) => setTimeout(resolve, 1));
  }
}
