import { afterEach, describe, expect, it } from 'vitest';
import { defineAgent, type LocalAgent } from '../../../src/engine/local-agent.ts';
import type { DrainOptions } from '../../../src/server/lifecycle/drain.ts';
import { type RunningServer, serve } from '../../../src/server/node/serve.ts';
import { createDeferred } from '../../support/engine/conversation.ts';
import { httpGet, httpOpen, httpPost } from '../../support/http/http-calls.ts';
import { readSseFrames, streamSseFrames } from '../../support/http/sse-frames.ts';

const v1 = { 'a2a-version': '1.0' };
const call = (method: string) => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  params: { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'go' }] } },
});

let agent: LocalAgent;
let server: RunningServer;
let work = createDeferred();
let begun = createDeferred();

async function start(drain: DrainOptions): Promise<void> {
  work = createDeferred();
  begun = createDeferred();
  agent = defineAgent({
    name: 'Slow',
    description: 'Works until the test allows it to finish',
    async process() {
      begun.resolve();
      await work.promise;
      return 'done';
    },
  });
  server = await serve(agent, { drain });
}

afterEach(async () => {
  await server.stop(0);
  await agent.close();
});

describe('stop() with drain', () => {
  it('responds 503 at /readyz while it still accepts requests', async () => {
    await start({ notReady: 2_000 });
    work.resolve();
    expect((await httpGet(`${server.url}/readyz`)).status).toBe(200);
    const stopped = server.stop();
    const { status, json } = await httpGet(`${server.url}/readyz`);
    expect({ status, json }).toEqual({ status: 503, json: { status: 'stopping' } });
    const { json: sent } = await httpPost(server.url, call('SendMessage'), v1);
    expect(sent.result.task.status.state).toBe('TASK_STATE_COMPLETED');
    await stopped;
    await expect(httpGet(`${server.url}/readyz`)).rejects.toThrow();
  });

  it('waits for running tasks and delivers the rest of their streams', async () => {
    await start({ tasks: 10_000 });
    const response = await httpOpen(server.url, call('SendStreamingMessage'), v1);
    await begun.promise;
    const stopped = server.stop();
    await expect.poll(() => httpGet(`${server.url}/healthz`).catch(() => 'refused')).toBe('refused');
    work.resolve();
    const frames = await readSseFrames(response);
    expect(frames.at(-1)?.data.result.statusUpdate.status.state).toBe('TASK_STATE_COMPLETED');
    await stopped;
  });

  it('ends streams of tasks that run longer, without a last status', async () => {
    await start({ tasks: 50 });
    const frames = streamSseFrames(await httpOpen(server.url, call('SendStreamingMessage'), v1));
    await begun.promise;
    const stopped = server.stop();
    const states: (string | undefined)[] = [];
    for await (const { data } of frames) states.push(data.result.statusUpdate?.status.state);
    expect(states).not.toContain('TASK_STATE_FAILED');
    await stopped;
    work.resolve();
  });

  it('does not wait with a timeout of 0', async () => {
    await start({ notReady: 60_000, tasks: 60_000 });
    const sent = httpPost(server.url, call('SendMessage'), v1).catch(() => 'closed');
    await begun.promise;
    await server.stop(0);
    expect(await sent).toBe('closed');
    work.resolve();
  });
});
