/** 10,000 idle streams, which all receive heartbeats. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { rawRequest } from '../support/http/raw-http.ts';

const streams = 10_000;

it('receive every heartbeat; the longest stall of the server is printed', async () => {
  const server = fork(join(import.meta.dirname, 'fixtures/idle-streams-server.mjs'), { execArgv: [] });
  const sockets: Socket[] = [];
  try {
    const [{ port }] = (await once(server, 'message')) as [{ port: number }];
    const heartbeats = new Uint32Array(streams);
    for (let n = 0; n < streams; n++) {
      const message = { messageId: `m${n}`, role: 'ROLE_USER', parts: [{ text: 'go' }] };
      const call = { jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: { message } };
      const socket = connect(port, '127.0.0.1');
      sockets.push(socket);
      let hasStarted = false;
      const started = new Promise<void>((resolve, reject) => {
        socket.on('error', reject);
        socket.on('data', (bytes) => {
          const text = bytes.toString('latin1');
          if (hasStarted && /^:/m.test(text)) heartbeats[n] = (heartbeats[n] ?? 0) + 1;
          if (!text.includes('started')) return;
          hasStarted = true;
          resolve();
        });
      });
      socket.write(rawRequest('POST', '/', JSON.stringify(call), { 'A2A-Version': '1.0' }));
      // Opens 100 connections at a time.
      if (n % 100 === 99) await started;
    }
    const readStall = async (): Promise<number> => {
      server.send('stall');
      const [{ stall }] = (await once(server, 'message')) as [{ stall: number }];
      return stall;
    };
    const minimum = (): number => heartbeats.reduce((least, each) => Math.min(least, each), Infinity);
    await expect.poll(minimum, { timeout: 120_000 }).toBeGreaterThanOrEqual(1);
    await readStall();
    await expect.poll(minimum, { timeout: 120_000 }).toBeGreaterThanOrEqual(3);
    console.log(`${streams} idle streams: longest stall ${Math.round(await readStall())} ms`);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.kill('SIGKILL');
    await once(server, 'exit');
  }
}, 600_000);
