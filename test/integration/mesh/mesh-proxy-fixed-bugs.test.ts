/** Regression tests: defects of earlier proxies between a mesh and agents over HTTP. */
import { describe, expect, it } from 'vitest';
import { type MeshServerOptions } from '../../../src/mesh/server/serve-on-mesh.ts';
import { createDeferred } from '../../support/engine/conversation.ts';
import { request0_1, request0_3 } from '../../support/mesh/mesh-test-client.ts';
import { innerTask, rawStatusUpdate, rawTask } from '../../support/mesh/raw-agent.ts';
import { respondJson } from '../../support/http/raw-server.ts';
import { startProxiedAgent, publishedSummary, findInnerIds } from '../../support/mesh/proxied-agent.ts';

describe('regressions of mesh proxies', () => {
  it('sends no task id for a new task and the id of the agent for a follow-up', async () => {
    const { client, server } = await startProxiedAgent({
      stream: ({ params }) =>
        params.message.taskId
          ? [rawTask('working'), rawStatusUpdate('completed', 'Thanks', true)]
          : [rawTask('submitted'), rawStatusUpdate('input-required', 'Which one?', true)],
    });
    await client.send('Proxied', 't-1', request0_3('t-1', 'go', { message: { taskId: 'never-heard-of' } }));
    await client.waitForResponse('t-1');
    await client.send('Proxied', 't-2', request0_3('t-2', 'that one', { message: { taskId: 't-1' } }));
    const { body } = await client.waitForResponse('t-2');
    expect(body.result).toMatchObject({ id: 't-2', status: { state: 'completed' } });
    const ids = server.rpcRequests('message/stream').map(({ params }) => params.message.taskId);
    expect(ids).toEqual([undefined, innerTask]);
  });

  it('routes a reply without task id to the interrupted task of its context', async () => {
    const { client, server } = await startProxiedAgent({
      stream: ({ params }) =>
        params.message.taskId
          ? [rawStatusUpdate('completed', 'Thanks', true)]
          : [rawTask('submitted'), rawStatusUpdate('input-required', 'Which one?', true)],
    });
    await client.send('Proxied', 't-1', request0_3('t-1', 'go'));
    await client.waitForResponse('t-1');
    await client.send('Proxied', 't-2', request0_3('t-2', 'that one'));
    expect((await client.waitForResponse('t-2')).body.result.status.state).toBe('completed');
    await client.send('Proxied', 't-3', request0_3('t-3', 'something else'));
    await client.waitForResponse('t-3');
    const ids = server.rpcRequests('message/stream').map(({ params }) => params.message.taskId);
    expect(ids).toEqual([undefined, innerTask, undefined]);
  });

  it('returns user properties with every message, nested ones unchanged', async () => {
    const { client } = await startProxiedAgent({
      stream: () => [
        rawTask('submitted'),
        rawStatusUpdate('working', 'On it'),
        rawStatusUpdate('completed', 'Done', true),
      ],
    });
    const extra = {
      a2aUserConfig: { user_profile: { id: 'alice', roles: ['a', 'b'] } },
      callDepth: 2,
      own: 'x',
    };
    await client.send('Proxied', 't-1', request0_3('t-1', 'go'), { properties: extra });
    await client.waitForResponse('t-1');
    expect(client.replies).toHaveLength(3);
    for (const { properties } of client.replies) {
      expect(properties).toMatchObject({ ...extra, clientId: 'gateway_1', userId: 'alice' });
      expect(properties.replyTo).toBe('test_namespace/a2a/v1/gateway/response/gateway_1/t-1');
    }
  });

  it('responds with an error if the agent disconnects silently', async () => {
    const { client } = await startProxiedAgent({
      stream: () => [rawTask('working', 'Processing your request...')],
    });
    await client.send('Proxied', 't-1', request0_3('t-1', 'go'));
    const { body } = await client.waitForResponse('t-1');
    expect(publishedSummary(client, 't-1')).toEqual(['response error -32603']);
    expect(body.error.message).toMatch(/^Remote agent 'Proxied' disconnected without completing the task\./);
    expect(body.error.data).toMatchObject({ agent_name: 'Proxied', taskId: 't-1' });
  });

  it('responds with an error after the idle timeout', async () => {
    const opened = createDeferred();
    const { client, clock } = await startProxiedAgent(
      { open: () => opened.resolve() },
      { server: { timeouts: { idle: 3000, total: 0 } } },
    );
    await client.send('Proxied', 't-1', request0_3('t-1', 'go'));
    await opened.promise;
    clock.advance(3000);
    const { body } = await client.waitForResponse('t-1');
    expect(body.error).toMatchObject({
      code: -32603,
      message: "Remote agent 'Proxied' sent nothing for 3000 ms",
    });
  });

  it('responds with an error after the total timeout despite heartbeats', async () => {
    const { client, clock } = await startProxiedAgent(
      {
        open: (_body, events) => {
          events.event(rawTask('submitted'));
          events.event(rawStatusUpdate('working', 'On it'));
        },
      },
      { server: { timeouts: { idle: 0, total: 5000 } } },
    );
    await client.send('Proxied', 't-1', request0_3('t-1', 'go'));
    await client.waitFor(({ channel }) => channel === 'status');
    clock.advance(5000);
    const { body } = await client.waitForResponse('t-1');
    expect(body.error.message).toBe("Remote agent 'Proxied' did not end the task within 5000 ms");
  });

  it('converts status texts to progress updates unless disabled', async () => {
    const script = {
      stream: () => [
        rawTask('submitted'),
        rawStatusUpdate('working', 'On it'),
        rawStatusUpdate('completed', 'Done', true),
      ],
    };
    const first = async (server: Partial<MeshServerOptions>) => {
      const { client } = await startProxiedAgent(script, { server });
      await client.send('Proxied', 't-1', request0_3('t-1', 'go'));
      await client.waitForResponse('t-1');
      return client.repliesFor('t-1', 'status')[0]?.body.result.status.message.parts;
    };
    const data = { type: 'agent_progress_update', status_text: 'On it' };
    expect(await first({})).toEqual([{ kind: 'data', data }]);
    expect(await first({ convertProgress: false })).toEqual([{ kind: 'text', text: 'On it' }]);
  });

  for (const code of [500, 503]) {
    it(`reports the HTTP status ${code} of the agent in the error`, async () => {
      const { client } = await startProxiedAgent({
        http: (request, response) => {
          if (request.path !== '/a2a') return false;
          respondJson(response, { error: 'no' }, code);
          return true;
        },
      });
      await client.send('Proxied', 't-1', request0_3('t-1', 'go'));
      const { body } = await client.waitForResponse('t-1');
      expect(body.error.code).toBe(-32603);
      expect(body.error.message).toContain(`did not return a valid SSE streaming response (HTTP ${code})`);
    });
  }

  it('preserves the error code of the agent', async () => {
    const { client } = await startProxiedAgent({
      send: () => ({ error: { code: -32005, message: 'No pictures' } }),
    });
    await client.send('Proxied', 't-1', request0_3('t-1', 'go', { method: 'message/send' }));
    expect((await client.waitForResponse('t-1')).body.error).toMatchObject({
      code: -32005,
      message: 'No pictures',
    });
  });

  it('reports rejected credentials of the proxy as an internal error', async () => {
    const { client } = await startProxiedAgent({
      http: (request, response) => {
        if (request.path !== '/a2a') return false;
        respondJson(
          response,
          { jsonrpc: '2.0', id: 1, error: { code: -32600, message: 'Who are you?' } },
          401,
        );
        return true;
      },
    });
    await client.send('Proxied', 't-1', request0_3('t-1', 'go', { method: 'message/send' }));
    const { error } = (await client.waitForResponse('t-1')).body;
    expect(error.code).toBe(-32603);
    expect(error.message).toContain('401');
  });

  it('forwards the configuration of a send', async () => {
    const { client, server } = await startProxiedAgent({ send: () => rawTask('completed', 'Done') });
    const configuration = { acceptedOutputModes: ['image/png'], historyLength: 3 };
    await client.send(
      'Proxied',
      't-1',
      request0_3('t-1', 'go', { method: 'message/send', params: { configuration, metadata: { a: 1 } } }),
    );
    await client.waitForResponse('t-1');
    const [{ params }] = server.rpcRequests('message/send');
    expect(params.configuration).toEqual({ ...configuration, blocking: true });
    expect(params.metadata).toEqual({ a: 1 });
  });

  it('sends no context for a new conversation, with send and stream', async () => {
    const { client, server } = await startProxiedAgent({
      stream: () => [rawTask('submitted'), rawStatusUpdate('completed', 'Done', true)],
    });
    const message = { metadata: { sessionBehavior: 'RUN_BASED', parentTaskId: 'p' } };
    for (const method of ['message/send', 'message/stream']) {
      await client.send('Proxied', method.slice(8), request0_3(method.slice(8), 'go', { method, message }));
      expect((await client.waitForResponse(method.slice(8))).body.result.contextId).toBe('session-1');
    }
    expect(server.rpcRequests().map(({ params }) => params.message.contextId)).toEqual([
      undefined,
      undefined,
    ]);
  });

  it('returns the same response to a repeated request without calling the agent again', async () => {
    const { client, server } = await startProxiedAgent({ send: () => rawTask('completed', 'Done') });
    const request = request0_3('t-1', 'go', { method: 'message/send' });
    await client.send('Proxied', 't-1', request);
    await client.waitForResponse('t-1');
    // A duplicate of a running request shares its response; this one arrives later.
    await client.send('Proxied', 't-2', request0_3('t-2', 'go', { method: 'message/send' }));
    await client.waitForResponse('t-2');
    await client.send('Proxied', 't-1', request);
    await client.send('Proxied', 't-3', request0_3('t-3', 'go', { method: 'message/send' }));
    await client.waitForResponse('t-3');
    const [first, second] = client.repliesFor('t-1', 'response');
    expect(second?.body).toEqual(first?.body);
    expect(server.rpcRequests('message/send')).toHaveLength(3);
  });

  it('responds to 0.1 clients in 0.1 with their session and task ids', async () => {
    const { client, server } = await startProxiedAgent({
      stream: () => [
        rawTask('submitted'),
        rawStatusUpdate('working', 'On it'),
        rawStatusUpdate('rejected', 'No', true),
      ],
    });
    const request: any = request0_1('t-1', 'go', { params: { metadata: { system_purpose: 'test' } } });
    await client.send('Proxied', 't-1', request);
    const { body } = await client.waitForResponse('t-1');
    expect(body.id).toBe(request.id);
    expect(body.result).toMatchObject({ id: 't-1', sessionId: 'session-1', status: { state: 'failed' } });
    expect(body.result.status.message.parts).toEqual([{ type: 'text', text: 'No' }]);
    const [working, last] = client.repliesFor('t-1', 'status').map((each) => each.body.result);
    expect(working).toMatchObject({ id: 't-1', final: false, metadata: { agent_name: 'Proxied' } });
    expect(working.status.message.parts[0]).toMatchObject({ type: 'data' });
    expect(last.final).toBe(true);
    expect(JSON.stringify(client.replies)).not.toContain('"kind"');
    const [{ params }] = server.rpcRequests('message/stream');
    expect(params.message).toMatchObject({ contextId: 'session-1', metadata: { system_purpose: 'test' } });
    expect(params.message.taskId).toBeUndefined();
    expect(findInnerIds(client)).toEqual([]);
  });
});
