/** 1,000 connections of gRPC that never read a response of 4 MB, with windows that would allow it. */
import { expect, it } from 'vitest';
import { startAttackedServer } from '../support/grpc/attacked-server.ts';
import { send, service } from '../support/grpc/raw-calls.ts';
import { callHeaders, connectionStart, frameTypes, http2Frame, setting } from '../support/grpc/raw-http2.ts';
import { writeMemoryCurve } from '../support/memory-curve.ts';

const connections = 1_000;
const maxWindow = 2 ** 31 - 1;

it('keep the resident memory below 1 GB', { timeout: 600_000 }, async () => {
  const attacked = await startAttackedServer();
  const bytes = Buffer.concat([
    connectionStart(setting(4, maxWindow)),
    http2Frame(frameTypes.windowUpdate, 0, 0, Buffer.from([0x40, 0, 0, 0])),
    callHeaders(1, `${service}SendMessage`),
    http2Frame(frameTypes.data, 1, 1, send(String(4 * 1_024 * 1_024))),
  ]);
  const curve: [connections: number, megabytes: number][] = [];
  const note = (count: number) => curve.push([count, Math.round(process.memoryUsage.rss() / 1e6)]);
  note(0);
  for (let n = 1; n <= connections; n++) {
    const { socket } = attacked.connect();
    socket.pause();
    await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
    if (n % 50 !== 0) continue;
    // Responds after all earlier calls were handled.
    expect((await fetch(`${attacked.server.url}/healthz`)).status).toBe(200);
    note(n);
  }
  writeMemoryCurve('grpc', curve);
  expect(Math.max(...curve.map(([, each]) => each))).toBeLessThan(1_000);
  expect(attacked.faults).toEqual([]);
  await attacked.close();
});
