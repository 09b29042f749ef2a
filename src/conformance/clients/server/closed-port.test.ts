import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { ClosedPort } from './closed-port.ts';

function connectionError(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(undefined);
    });
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
  });
}

/** Reads the states of all sockets bound to a port of 127.0.0.1, as Linux lists them. */
function statesOf(port: number): string[] {
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, address]) => address === local)
    .map(([, , , state]) => state ?? '');
}

describe('ClosedPort', () => {
  it('refuses connections', async () => {
    const closed = await ClosedPort.reserve();
    expect(await connectionError(closed.port)).toBe('ECONNREFUSED');
    closed.release();
  });

  it.skipIf(process.platform !== 'linux')(
    'keeps its port with an established connection until it is released',
    async () => {
      const established = '01';
      const closed = await ClosedPort.reserve();
      expect(statesOf(closed.port)).toEqual([established]);
      closed.release();
      await expect.poll(() => statesOf(closed.port)).not.toContain(established);
    },
  );
});
