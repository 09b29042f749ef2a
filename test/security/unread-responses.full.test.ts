/** 1,000 connections that never read a response of 4 MB. */
import { connect, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { defineAgent } from '../../src/engine/local-agent.ts';
import { serve } from '../../src/server/node/serve.ts';
import { callRpc, httpGet } from '../support/http/http-calls.ts';
import { rawRequest } from '../support/http/raw-http.ts';
import { writeMemoryCurve } from '../support/memory-curve.ts';

const connections = 1_000;
const mebibyte = 1_024 * 1_024;

it.each([true, false])(
  'keep the resident memory below 1 GB (fastPath: %s)',
  { timeout: 120_000 },
  async (fastPath) => {
    const agent = defineAgent({
      name: 'Large',
      description: 'Returns 4 MB',
      process: () => 'x'.repeat(4 * mebibyte),
    });
    const server = await serve(agent, { fastPath });
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'go' }] };
    const { result } = await callRpc(server.url, 'SendMessage', { message }, '1.0');
    const call = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: result.task.id } };
    const request = rawRequest('POST', '/', JSON.stringify(call), { 'A2A-Version': '1.0' });
    const before = process.memoryUsage.rss();
    const curve: [connections: number, megabytes: number][] = [[0, Math.round(before / 1e6)]];
    const sockets: Socket[] = [];
    for (let i = 1; i <= connections; i++) {
      const socket = connect(server.port, '127.0.0.1').on('error', () => {});
      sockets.push(socket);
      await new Promise<void>((resolve) => socket.write(request, () => resolve()));
      if (i % 50 !== 0) continue;
      // Responds after all earlier requests were handled.
      expect((await httpGet(`${server.url}/healthz`)).status).toBe(200);
      curve.push([i, Math.round(process.memoryUsage.rss() / 1e6)]);
    }
    writeMemoryCurve(`connections-${fastPath ? 'fast' : 'node'}`, curve);
    expect(Math.max(...curve.map(([, each]) => each))).toBeLessThan(1_000);
    for (const socket of sockets) socket.destroy();
    await server.stop(0);
    await agent.close();
  },
);
