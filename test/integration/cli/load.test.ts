import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { type RunningServer, serve } from '../../../src/server/node/serve.ts';
import { runDragoman } from '../../support/cli/run-command.ts';
import { runInProcess } from '../../support/cli/run-in-process.ts';
import { waitUntil } from '../../support/server/checked-server.ts';

let calls = 0;
const agent = defineAgent({
  name: 'Busy',
  description: 'Replies',
  process: async ({ text, signal }) => {
    calls++;
    // An open request at the end of the run.
    if (text === 'slow' && calls > 5)
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    return 'done';
  },
});
let server: RunningServer;
beforeAll(async () => {
  server = await serve(agent);
});
afterAll(async () => {
  await server.stop(0);
  await agent.close();
});

describe('dragoman load', () => {
  it('prints throughput, latencies and errors', async () => {
    const flags = ['--requests', '5', '--connections', '2', '--warm-up', '0', '--operation', 'stream'];
    const { code, stdout, stderr } = await runDragoman(['load', server.url, ...flags]).ended;
    expect(stdout).toMatch(
      /^Agent: +http:\/\/\S+ \(1\.0, JSONRPC\)\nLoad: +stream, closed loop, 2 clients, /,
    );
    expect(stdout).toMatch(
      /^Requests: +5, 0 failed\nThroughput: +[\d.]+ successful requests\/s\nEvents: +\d/m,
    );
    expect(stdout).toMatch(
      /^Latency: +p50 [\d.]+ ms, p90 [\d.]+ ms, p99 [\d.]+ ms, p99\.9 [\d.]+ ms, max [\d.]+ ms$/m,
    );
    // Progress is for terminals only.
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it('ends early with the report on Ctrl-C', async () => {
    calls = 0;
    const flags = ['--rate', '50', '--duration', '1h', '--warm-up', '0', '--text', 'slow', '-o', 'json'];
    const running = runDragoman(['load', server.url, ...flags]);
    await waitUntil(() => calls > 7, 'requests are open');
    const { code, stdout } = await running.stop('SIGINT');
    const report = JSON.parse(stdout) as Record<string, unknown>;
    expect(code).toBe(0);
    expect(report).toMatchObject({
      version: '1.0',
      transport: 'JSONRPC',
      plan: { operation: 'send', rate: 50, duration: 3_600_000 },
      loop: 'open',
      isStopped: true,
      failed: 0,
      latency: { p50: expect.any(Number), max: expect.any(Number) },
      errors: [],
    });
    expect(report['abandoned']).toBeGreaterThan(1);
  });

  it('refuses other hosts and says why', async () => {
    const { code, stdout, stderr } = await runInProcess(['load', 'https://agents.example.com']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(
      /^error: agents\.example\.com is not on this machine\nhint: Load can stop an agent .* --allow-remote\.\n$/,
    );
  });

  it('exits with 1 if no request succeeded', async () => {
    const flags = ['--operation', 'get', '--task-id', 'none', '--requests', '2', '--warm-up', '0'];
    const { code, stdout } = await runInProcess(['load', server.url, ...flags]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^Latency: +– \(no successful request\)\nErrors:\n +2 {2}TASK_NOT_FOUND: /m);
  });
});
