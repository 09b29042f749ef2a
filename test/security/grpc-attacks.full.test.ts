/** Many attacks of clients of gRPC, with the memory of the server. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AttackedServer, startAttackedServer } from '../support/grpc/attacked-server.ts';
import { sendMutatedCalls } from '../support/grpc/mutated-calls.ts';
import { service } from '../support/grpc/raw-calls.ts';
import { callHeaders, connectionStart, frameTypes, http2Frame } from '../support/grpc/raw-http2.ts';

const seed = Number(process.env.DRAGOMAN_SEED ?? Date.now() % 1_000_000);
const count = Number(process.env.DRAGOMAN_MUTANTS ?? 20_000);
let attacked: AttackedServer;
beforeAll(async () => {
  attacked = await startAttackedServer({ maxBodyBytes: 100_000 });
});
afterAll(() => attacked.close());

it(`survives ${count} mutated calls (seed ${seed})`, { timeout: 600_000 }, async () => {
  await sendMutatedCalls(attacked, count, seed);
  expect(attacked.faults).toEqual([]);
  expect(await attacked.sendText('hello')).toBe('hello');
});

it('survives 10,000 calls that are opened and reset', { timeout: 120_000 }, async () => {
  const before = process.memoryUsage().rss;
  const reset = Buffer.from([0, 0, 0, 8]);
  // A connection is closed after a thousand resets, and a client opens the next one.
  for (let sent = 0; sent < 10_000; sent += 1_000) {
    const connection = attacked.connect();
    connection.write(connectionStart());
    for (let n = 0; n < 1_000; n++) {
      const id = 1 + 2 * n;
      connection.write(
        callHeaders(id, `${service}SendStreamingMessage`),
        http2Frame(frameTypes.reset, 0, id, reset),
      );
    }
    connection.socket.end();
    await connection.next(({ type }) => type === frameTypes.goaway);
    connection.socket.destroy();
  }
  expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
  expect(attacked.faults).toEqual([]);
  expect(await attacked.sendText('hello')).toBe('hello');
});
