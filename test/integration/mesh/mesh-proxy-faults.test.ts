/** What proxies between a mesh and agents over HTTP are known to get wrong: each fault as a test. */
import { describe, expect, it } from 'vitest';
import { memoryArtifactStore } from '../../../src/artifacts/stores/memory.ts';
import { withArtifacts } from '../../../src/artifacts/with-artifacts.ts';
import { meshSessionId } from '../../../src/mesh/mesh-session.ts';
import { createDeferred } from '../../support/engine/conversation.ts';
import { request0_3 } from '../../support/mesh/mesh-test-client.ts';
import {
  rawArtifactUpdate,
  innerContext,
  innerTask,
  rawStatusUpdate,
  rawTask,
  rawMessage,
} from '../../support/mesh/raw-agent.ts';
import { startProxiedAgent, publishedSummary, findInnerIds } from '../../support/mesh/proxied-agent.ts';

describe('known defects of mesh proxies', () => {
  for (const state of ['failed', 'canceled', 'rejected', 'input-required', 'auth-required', 'completed']) {
    it(`1: reports a final update ${state} as ${state}`, async () => {
      const { client } = await startProxiedAgent({
        stream: () => [rawTask('submitted'), rawStatusUpdate(state, 'So it is', true)],
      });
      await client.send('Proxied', 't-1', request0_3('t-1', 'go'));
      const { body } = await client.waitForResponse('t-1');
      expect(publishedSummary(client, 't-1')).toEqual([
        `status status-update ${state}`,
        `response task ${state}`,
      ]);
      expect(body.result.status.message.parts).toEqual([{ kind: 'text', text: 'So it is' }]);
      expect(body.result).toMatchObject({
        id: 't-1',
        contextId: 'session-1',
        metadata: { agent_name: 'Proxied' },
      });
      expect(findInnerIds(client)).toEqual([]);
    });
  }

  for (const state of ['failed', 'canceled', 'rejected']) {
    it(`2: returns the ${state} task of a send`, async () => {
      const { client } = await startProxiedAgent({ send: () => rawTask(state, 'No') });
      await client.send('Proxied', 't-1', request0_3('t-1', 'go', { method: 'message/send' }), {
        withStatusTopic: false,
      });
      await client.waitForResponse('t-1');
      expect(publishedSummary(client, 't-1')).toEqual([`response task ${state}`]);
    });
  }

  it('2: sends an update and then the task if a send requests input', async () => {
    const { client } = await startProxiedAgent({ send: () => rawTask('input-required', 'Which one?') });
    await client.send('Proxied', 't-1', request0_3('t-1', 'go', { method: 'message/send' }));
    const { body } = await client.waitForResponse('t-1');
    expect(publishedSummary(client, 't-1')).toEqual([
      'status status-update input-required',
      'response task input-required',
    ]);
    expect(body.result.status.message.parts[0].text).toBe('Which one?');
  });

  it('3: sends one response and no error for a stream with a final update', async () => {
    const { client, meshServer } = await startProxiedAgent({
      stream: () => [rawTask('submitted'), rawStatusUpdate('completed', 'Done', true)],
    });
    await client.send('Proxied', 't-1', request0_3('t-1', 'go'));
    await client.waitForResponse('t-1');
    await meshServer.close();
    expect(publishedSummary(client, 't-1')).toEqual([
      'status status-update completed',
      'response task completed',
    ]);
  });

  it('3: sends one completed task for a stream of one message', async () => {
    const { client, meshServer } = await startProxiedAgent({ stream: () => [rawMessage('Hello')] });
    await client.send('Proxied', 't-1', request0_3('t-1', 'go'));
    const { body } = await client.waitForResponse('t-1');
    await meshServer.close();
    expect(publishedSummary(client, 't-1')).toEqual(['response task completed']);
    expect(body.result.status.message).toMatchObject({ taskId: 't-1', contextId: 'session-1' });
    expect(findInnerIds(client)).toEqual([]);
  });

  it('3: sends one error with the received content type for a response that is not a stream', async () => {
    const { client, meshServer } = await startProxiedAgent({
      http: (request, response) => {
        if (request.path !== '/a2a') return false;
        response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
        return true;
      },
    });
    await client.send('Proxied', 't-1', request0_3('t-1', 'go'));
    const { body } = await client.waitForResponse('t-1');
    await meshServer.close();
    expect(publishedSummary(client, 't-1')).toEqual(['response error -32603']);
    expect(body.error.message).toMatch(/did not return a valid SSE streaming response \(HTTP 200\)/);
    expect(body.error.data).toMatchObject({ taskId: 't-1', agent_name: 'Proxied' });
  });

  it('4: cancels a task before its first event and forwards the cancel to the agent', async () => {
    const opened = createDeferred();
    const letGo = createDeferred();
    const { client, server, meshServer } = await startProxiedAgent({
      open: async (_body, events) => {
        opened.resolve();
        await letGo.promise;
        events.event(rawTask('submitted'));
      },
    });
    await client.send('Proxied', 't-1', request0_3('t-1', 'go'));
    await opened.promise;
    await client.cancel('Proxied', 't-1');
    const { body, properties } = await client.waitForResponse('t-1');
    expect(body).toMatchObject({
      id: 't-1',
      result: { kind: 'task', id: 't-1', status: { state: 'canceled' } },
    });
    expect(properties).toMatchObject({ userId: 'alice' });
    letGo.resolve();
    await meshServer.close();
    expect(server.rpcRequests('tasks/cancel').map(({ params }) => params.id)).toEqual([innerTask]);
    expect(publishedSummary(client, 't-1')).toEqual(['response task canceled']);
  });

  it('5: responds to a cancel once, with the mesh task id, on the reply topic', async () => {
    const { client, server, meshServer } = await startProxiedAgent({
      open: (_body, events) => {
        events.event(rawTask('submitted'));
        events.event(rawStatusUpdate('working', 'On it'));
      },
    });
    await client.send('Proxied', 't-1', request0_3('t-1', 'go'));
    await client.waitFor(({ channel }) => channel === 'status');
    await client.cancel('Proxied', 't-1');
    const { body } = await client.waitForResponse('t-1');
    await meshServer.close();
    expect(body).toMatchObject({
      id: 't-1',
      result: { id: 't-1', contextId: 'session-1', status: { state: 'canceled' } },
    });
    expect(server.rpcRequests('tasks/cancel').map(({ params }) => params.id)).toEqual([innerTask]);
    expect(client.repliesFor('t-1', 'response')).toHaveLength(1);
    expect(findInnerIds(client)).toEqual([]);
  });

  it('6: assigns a context to a request without one and keeps it', async () => {
    const { client, server } = await startProxiedAgent({
      stream: () => [rawTask('submitted'), rawStatusUpdate('completed', 'Done', true)],
    });
    await client.send('Proxied', 't-1', request0_3('t-1', 'go', { contextId: null }));
    const { contextId } = (await client.waitForResponse('t-1')).body.result;
    expect(contextId).toMatch(/^[0-9a-f-]{36}$/);
    expect(client.repliesFor('t-1').map(({ body }) => body.result.contextId)).toEqual([contextId, contextId]);
    await client.send('Proxied', 't-2', request0_3('t-2', 'more', { contextId }));
    expect((await client.waitForResponse('t-2')).body.result.contextId).toBe(contextId);
    const contexts = server.rpcRequests('message/stream').map(({ params }) => params.message.contextId);
    expect(contexts).toEqual([undefined, innerContext]);
  });

  it('7: lists the files of the whole stream, including status messages, at its end without inline bytes', async () => {
    const file = (name: string) => ({
      kind: 'file',
      file: { name, mimeType: 'text/plain', bytes: 'aGVsbG8=' },
    });
    const withFile = rawStatusUpdate('completed', 'Done', true);
    withFile.status.message.parts.push(file('c.txt'));
    const store = memoryArtifactStore();
    const { client } = await startProxiedAgent(
      {
        stream: () => [
          rawTask('submitted'),
          rawArtifactUpdate('a', [file('a.txt')], { lastChunk: true }),
          rawArtifactUpdate('b', [file('b.txt')], { lastChunk: true }),
          withFile,
        ],
      },
      {
        middleware: (agent) =>
          withArtifacts(agent, {
            store,
            app: 'Proxied',
            session: (_context, call) => meshSessionId(call) ?? '',
          }),
      },
    );
    await client.send('Proxied', 't-1', request0_3('t-1', 'go'));
    const { body } = await client.waitForResponse('t-1');
    expect(body.error).toBeUndefined();
    const produced = body.result.metadata.produced_artifacts as { filename: string; version: number }[];
    expect(produced.map((each) => each.filename).sort()).toEqual(['a.txt', 'b.txt', 'c.txt']);
    expect(JSON.stringify(client.replies)).not.toContain('aGVsbG8=');
    const kept = await store.load({ app: 'Proxied', user: 'alice', session: 'session-1', filename: 'c.txt' });
    expect(new TextDecoder().decode(await kept?.bytes())).toBe('hello');
  });

  it('8: names unnamed files and removes path segments from names', async () => {
    const file = (name?: string) => ({
      kind: 'file',
      file: { name, mimeType: 'text/plain', bytes: 'aGVsbG8=' },
    });
    const { client } = await startProxiedAgent(
      {
        stream: () => [
          rawTask('submitted'),
          rawArtifactUpdate('a', [file()], { lastChunk: true }),
          rawArtifactUpdate('b', [file('../../etc/passwd')], { lastChunk: true }),
          rawStatusUpdate('completed', 'Done', true),
        ],
      },
      { middleware: (agent) => withArtifacts(agent, { store: memoryArtifactStore(), app: 'Proxied' }) },
    );
    await client.send('Proxied', 't-1', request0_3('t-1', 'go'));
    const names = (await client.waitForResponse('t-1')).body.result.metadata.produced_artifacts.map(
      (each: { filename: string }) => each.filename,
    );
    expect(names).toHaveLength(2);
    for (const name of names) {
      expect(name).not.toMatch(/None|undefined|\.\.|[\\/]/);
      expect(name).not.toBe('');
    }
  });

  it('9: sends instead of streaming if the card declares no streaming', async () => {
    const { client, server } = await startProxiedAgent({
      streaming: false,
      send: () => rawTask('completed', 'Done'),
    });
    await client.send('Proxied', 't-1', request0_3('t-1', 'go'));
    await client.waitForResponse('t-1');
    expect(server.rpcRequests().map(({ method }) => method)).toEqual(['message/send']);
    expect(publishedSummary(client, 't-1')).toEqual(['response task completed']);
  });

  it('10: limits the number of retained tasks', async () => {
    const { client } = await startProxiedAgent(
      { send: () => rawTask('input-required', 'Which one?') },
      { server: { limits: { tasks: 10 } } },
    );
    const ask = (id: string, message: object = {}) =>
      client.send(
        'Proxied',
        id,
        request0_3(id, 'go', { method: 'message/send', contextId: `c-${id}`, message }),
      );
    for (let i = 0; i < 30; i++) {
      await ask(`t-${i}`);
      await client.waitForResponse(`t-${i}`);
    }
    await ask('get', {});
    await client.waitForResponse('get');
    const get = (id: string) => ({ jsonrpc: '2.0', id: `g-${id}`, method: 'tasks/get', params: { id } });
    await client.send('Proxied', 'g-0', get('t-0'));
    expect((await client.waitForResponse('g-0')).body.error.code).toBe(-32001);
  });

  for (const code of [307, 308]) {
    it(`11: follows a redirect ${code}`, async () => {
      const { client } = await startProxiedAgent({
        stream: () => [rawTask('submitted'), rawStatusUpdate('completed', 'Done', true)],
        http: (request, response) => {
          if (request.path !== '/a2a') return false;
          response.writeHead(code, { location: '/moved' }).end();
          return true;
        },
      });
      await client.send('Proxied', 't-1', request0_3('t-1', 'go'));
      await client.waitForResponse('t-1');
      expect(publishedSummary(client, 't-1')).toEqual([
        'status status-update completed',
        'response task completed',
      ]);
    });
  }

  it('11: batches text updates', async () => {
    const tokens = ['The ', 'quick ', 'brown ', 'fox'];
    const { client } = await startProxiedAgent(
      {
        stream: () => [
          rawTask('submitted'),
          ...tokens.map((text) => rawStatusUpdate('working', text)),
          rawStatusUpdate('completed', 'Done', true),
        ],
      },
      { server: { batch: { maxDelay: 1000, maxCharacters: 1000 } } },
    );
    await client.send('Proxied', 't-1', request0_3('t-1', 'go'));
    await client.waitForResponse('t-1');
    expect(publishedSummary(client, 't-1')).toEqual([
      'status status-update working',
      'status status-update completed',
      'response task completed',
    ]);
    const [joined] = client.repliesFor('t-1', 'status');
    expect(joined?.body.result.status.message.parts).toEqual([
      { kind: 'data', data: { type: 'agent_progress_update', status_text: 'The quick brown fox' } },
    ]);
  });
});
