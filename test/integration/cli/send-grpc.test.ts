import { expect, it } from 'vitest';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { tapServer } from '../../../src/tap/recorders/tap-server.ts';
import { TrafficLog } from '../../../src/tap/traffic-log.ts';
import type { TrafficRecord } from '../../../src/tap/traffic-record.ts';
import { runDragoman } from '../../support/cli/run-command.ts';

it('send --transport GRPC sends the message over gRPC', async () => {
  const agent = defineAgent({ name: 'Echo', description: 'Repeats', process: ({ text }) => text });
  const log = new TrafficLog();
  const records: TrafficRecord[] = [];
  log.subscribe((record) => records.push(record));
  await using server = await serve(agent, tapServer(log, { name: 'Echo' }));
  const { code, stdout } = await runDragoman(['send', '-a', server.url, 'hi', '--transport', 'GRPC']).ended;
  expect(code).toBe(0);
  expect(stdout).toContain('hi');
  const sent = records.filter(({ kind, decoded }) => kind === 'request' && decoded?.operation !== 'card');
  expect(sent).toHaveLength(1);
  expect(sent[0]).toMatchObject({
    decoded: { transport: 'GRPC' },
    http: { headers: { 'content-type': 'application/grpc' } },
  });
});
