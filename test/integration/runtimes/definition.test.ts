import { afterEach, describe, expect, it, vi } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { toFetchHandler } from '../../../src/server/fetch.ts';
import { listen as listenElsewhere } from '../../../src/server/node/no-node-server.ts';

afterEach(() => vi.restoreAllMocks());

/** Functions that Cloudflare Workers reject while a module is loaded. */
function forbiddenCalls() {
  return [
    vi.spyOn(globalThis, 'setTimeout'),
    vi.spyOn(globalThis, 'setInterval'),
    vi.spyOn(globalThis, 'setImmediate'),
    vi.spyOn(globalThis, 'fetch'),
    vi.spyOn(globalThis.crypto, 'getRandomValues'),
    vi.spyOn(globalThis.crypto, 'randomUUID'),
  ];
}

describe('definition of agents, handlers and clients', () => {
  it('uses no timers, requests or random numbers', async () => {
    const calls = forbiddenCalls();
    const agent = defineAgent({ name: 'A', description: 'A', process: ({ text }) => text });
    const handler = toFetchHandler(agent, { metrics: true });
    const remote = connect('http://agent.test');
    for (const each of calls) expect(each).not.toHaveBeenCalled();
    vi.restoreAllMocks();
    await handler.ready;
    await handler.close();
    await remote.close();
    await agent.close();
  });
});

describe('serve in runtimes without a Node server', () => {
  it('rejects with the function to use instead', async () => {
    await expect(listenElsewhere()).rejects.toMatchObject({
      reason: 'UNSUPPORTED_OPERATION',
      hint: 'Use toFetchHandler() in this runtime.',
    });
  });
});
