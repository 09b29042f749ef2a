/** Active resources that count as work: DNS, files, connection attempts, cryptography. */
const activeWork = /Req|ConnectWrap$|Job$/;

/** Resource name of an open connection. */
const socket = 'TCPSocketWrap';

/** Maximum wait in milliseconds. */
const maxWait = 1_000;

/**
 * Waits until the process is idle: a number of event-loop turns in which local sockets are served, and the end of all
 * active work. It waits longer while connections open and close, because a busy host delivers data some turns later.
 */
export async function waitForIdle(turns: number): Promise<void> {
  const deadline = performance.now() + maxWait;
  let previous = countSockets(process.getActiveResourcesInfo());
  for (;;) {
    for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
    const active = process.getActiveResourcesInfo();
    const sockets = countSockets(active);
    if (sockets === previous && !active.some((name) => activeWork.test(name))) return;
    if (performance.now() > deadline) return;
    previous = sockets;
    await new Promise<void>((resolve) => setTimeout(resolve, 1));
  }
}

function countSockets(active: readonly string[]): number {
  let count = 0;
  for (const name of active) if (name === socket) count++;
  return count;
}
