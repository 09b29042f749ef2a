import { describe, expect, it } from 'vitest';
import type { Bridge } from '../../../src/bridge/action-types.ts';
import { bridgeAgents } from '../../../src/bridge/bridge.ts';
import { connect } from '../../../src/client/connect.ts';
import { defineAgent } from '../../../src/engine/index.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { start03, start13 } from '../../interop/official-servers.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { bridgeToUrl, closeAfterTest } from '../../support/bridge/bridge-fixtures.ts';
import { createDeferred } from '../../support/engine/conversation.ts';
import { respondJson, startRawServer } from '../../support/http/raw-server.ts';

/** Starts a 0.1 agent that uses the task id of the client and does not stream. */
async function start01(): Promise<{ url: string; close(): Promise<void> }> {
  const tasks = new Map<string, any>();
  return startRawServer((request, response, url) => {
    if (request.path === '/.well-known/agent.json') {
      const skills = [{ id: 'echo', name: 'Echo' }];
      return respondJson(response, {
        name: 'Echo 0.1',
        url,
        version: '1',
        capabilities: { streaming: false },
        skills,
      });
    }
    const { id, method, params } = request.json ?? {};
    if (method === undefined) return respondJson(response, {}, 404);
    const respond = (result: unknown) => respondJson(response, { jsonrpc: '2.0', id, result });
    const agentMessage = (text: string) => ({ role: 'agent', parts: [{ type: 'text', text }] });
    if (method === 'tasks/send') {
      const known = tasks.get(params.id);
      const text: string = params.message.parts[0].text;
      const state = text === 'ask' ? 'input-required' : text === 'slow' ? 'working' : 'completed';
      const task = {
        id: params.id,
        sessionId: params.sessionId,
        status: { state, ...(text === 'ask' && { message: agentMessage('Which one?') }) },
        artifacts: state === 'completed' ? [{ index: 0, parts: [{ type: 'text', text }] }] : [],
        metadata: { turns: (known?.metadata.turns ?? 0) + 1 },
      };
      tasks.set(params.id, task);
      return respond(task);
    }
    const respondError = (code: number) =>
      respondJson(response, { jsonrpc: '2.0', id, error: { code, message: 'No' } });
    if (method !== 'tasks/get' && method !== 'tasks/cancel') return respondError(-32601);
    const task = tasks.get(params.id);
    if (!task) return respondError(-32001);
    if (method === 'tasks/cancel') task.status = { state: 'canceled' };
    return respond(task);
  });
}

async function startOwn(): Promise<{ url: string; close(): Promise<void> }> {
  const server = await serve(sampleAgent());
  return { url: server.url, close: () => server.stop(0) };
}

describe.each([
  ['0.1, byte for byte', start01],
  ['0.3 with the official SDK', start03],
  ['1.0 with the official SDK', start13],
  ['this toolkit', startOwn],
])('bridge to an agent of %s', (_name, start) => {
  const open = async (): Promise<Bridge> => {
    const server = await start();
    closeAfterTest(() => server.close());
    return bridgeToUrl(server.url);
  };

  it('invokes an action', async () => {
    const actions = await open();
    expect(actions.actions().map(({ name }) => name)).toEqual(['remote/echo', 'provide_required_input']);
    expect(await actions.invoke('remote/echo', { prompt: 'hello' }, { sessionId: 's-1' })).toMatchObject({
      success: true,
      status: 'COMPLETED',
      message: 'hello',
      contextId: 's-1',
    });
  });

  it('continues an input-required task', async () => {
    const actions = await open();
    const question = await actions.invoke('remote/echo', { prompt: 'ask' }, { sessionId: 's-1' });
    expect(question).toMatchObject({ status: 'INPUT_REQUIRED', message: 'Which one?' });
    const completed = await actions.invoke(
      'provide_required_input',
      { follow_up_id: question.followUpId, user_response: 'red' },
      { sessionId: 's-1' },
    );
    expect(completed).toMatchObject({ success: true, message: 'red', taskId: question.taskId });
  });

  it('cancels a task', async () => {
    const actions = await open();
    const stop = new AbortController();
    const started = createDeferred();
    const response = actions.invoke(
      'remote/echo',
      { prompt: 'slow' },
      { signal: stop.signal, onProgress: started.resolve },
    );
    await started.promise;
    stop.abort();
    expect(await response).toMatchObject({ status: 'CANCELED', errorInfo: undefined });
  });
});

describe('two bridges with three agents', () => {
  it('keep the responses of 200 concurrent calls apart', async () => {
    const agents = await Promise.all(
      ['a', 'b', 'c'].map(async (name) => {
        const agent = defineAgent({
          name,
          description: name,
          async *process({ text, contextId }) {
            yield { state: 'working', message: `${name} has ${text}` };
            yield { artifact: { artifactId: 'x', text: `${name}:` } };
            await new Promise(setImmediate);
            yield {
              artifact: { artifactId: 'x', text: `${text}@${contextId}` },
              append: true,
              lastChunk: true,
            };
          },
        });
        const server = await serve(agent);
        closeAfterTest(() => server.stop(0));
        return { agentName: name, url: server.url };
      }),
    );
    const actions = await Promise.all(
      [1, 2].map(async () => {
        const connected = agents.map(({ agentName, url }) => ({ agentName, agent: connect(url) }));
        const one = await bridgeAgents(connected);
        closeAfterTest(async () => {
          await one.close();
          for (const { agent } of connected) await agent.close();
        });
        return one;
      }),
    );
    const calls = Array.from({ length: 200 }, async (_, n) => {
      const { agentName } = agents[n % 3] ?? { agentName: '' };
      const progress: string[] = [];
      const response = await actions[n % 2]?.invoke(
        `${agentName}/default`,
        { prompt: `call ${n}` },
        { sessionId: `session-${n}`, onProgress: ({ message }) => progress.push(message) },
      );
      expect(response).toMatchObject({ success: true, message: `${agentName}:call ${n}@session-${n}` });
      expect(progress).toContain(`${agentName} has call ${n}`);
      return response?.taskId;
    });
    expect(new Set(await Promise.all(calls)).size).toBe(200);
  });
});
