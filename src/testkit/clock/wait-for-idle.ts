/** What the machine is still doing for somebody: names, files, connections that are being made, signatures. */
const activeWork = /Req|ConnectWrap$|Job$/;

/** An end of a connection. */
const socket = 'TCPSocketWrap';

/** For how many milliseconds at most such work is waited for. */
const maxWait = 1_000;

/**
 * Waits until nothing is going on: a number of turns of the event loop in which whatever is on a socket of this
 * machine is served, and the end of what the machine works on meanwhile. While connections come and go it waits a
 * little longer, because a busy machine may bring what was sent only some turns later.
 */
export async function waitForIdle(turns: number): Promise<void> {
  const giveUp = performance.now() + maxWait;
  let before = countSockets(process.getActiveResourcesInfo());
  for (;;) {
    for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
    const active = process.getActiveResourcesInfo();
    const sockets = countSockets(active);
    if (sockets === before && !active.some((name) => activeWork.test(name))) return;
    if (performance.now() > giveUp) return;
    before = sockets;
    await new Promise<void>((resolve) => setTimeout(resolve, 1));
  }
}

function countSockets(active: readonly string[]): number {
  let count = 0;
  for (const name of active) if (name === socket) count++;
  return count;
}
