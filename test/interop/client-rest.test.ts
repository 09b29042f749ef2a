import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import {
  type ConnectOptions,
  connect,
  createEndpointCache,
  type ClientWarning,
} from '../../src/client/index.ts';
import { closeAfterEach } from '../support/close-after-each.ts';
import { collectStream } from '../support/collect-stream.ts';
import {
  respondJson,
  type RawServerRequest,
  startEventStream,
  startRawServer,
} from '../support/http/raw-server.ts';
import {
  wireCardFixture,
  isWireCard,
  statusUpdateFixture,
  wireTaskFixture,
} from '../support/http/wire-fixtures-1_0.ts';

const request = { message: { messageId: 'm', role: 'user' as const, parts: [{ text: 'hi' }] } };

const open = closeAfterEach();

async function agentThat(
  answer: (received: RawServerRequest, response: ServerResponse) => unknown,
  options: ConnectOptions = {},
  version = '1.0',
) {
  const server = await startRawServer((received, response, url) => {
    const supportedInterfaces = [
      { url: `${url}/a b/`, protocolBinding: 'HTTP+JSON', protocolVersion: version, tenant: 't/1' },
    ];
    return isWireCard(received.path)
      ? respondJson(response, wireCardFixture(url, { supportedInterfaces }))
      : answer(received, response);
  });
  const agent = connect(server.url, { random: () => 0, endpointCache: createEndpointCache(), ...options });
  open.push(server, agent);
  const calls = () =>
    server.requests.filter(({ path }) => !isWireCard(path)).map(({ method, path }) => `${method} ${path}`);
  return { agent, calls };
}

describe('REST client', () => {
  it('sends path and query parameters in the spelling of the version', async () => {
    const { agent, calls } = await agentThat(({ method }, response) => {
      if (method === 'DELETE') response.writeHead(204).end();
      else
        respondJson(response, {
          ...wireTaskFixture('completed'),
          tasks: [],
          configs: [],
          taskId: 't1',
          url: 'http://x',
        });
    });
    await agent.getTask({ id: 'a/b:c', historyLength: 3 });
    await agent.listTasks({ contextId: 'c&d', status: 'working', includeArtifacts: true });
    await agent.cancelTask({ id: 't1' });
    await agent.deletePushConfig({ taskId: 't1', id: 'p?' });
    expect(calls()).toEqual([
      'GET /a%20b/t%2F1/tasks/a%2Fb%3Ac?historyLength=3',
      'GET /a%20b/t%2F1/tasks?contextId=c%26d&includeArtifacts=true&status=TASK_STATE_WORKING',
      'POST /a%20b/t%2F1/tasks/t1:cancel',
      'DELETE /a%20b/t%2F1/tasks/t1/pushNotificationConfigs/p%3F',
    ]);
  });

  it('remembers the method that subscribe needs', async () => {
    const { agent, calls } = await agentThat(({ method }, response) => {
      if (method === 'POST') return respondJson(response, { error: { code: 405, message: 'no' } }, 405);
      const stream = startEventStream(response);
      stream.event({ task: wireTaskFixture('working') });
      stream.event(statusUpdateFixture('completed'));
      stream.end();
    });
    await collectStream(agent.subscribe({ id: 't1' }));
    await collectStream(agent.subscribe({ id: 't1' }));
    expect(calls().map((call) => call.split(' ')[0])).toEqual(['POST', 'GET', 'GET']);
  });

  it('accepts an error and malformed frames in a stream', async () => {
    const problems: ClientWarning[] = [];
    const { agent } = await agentThat(
      (_asked, response) => {
        const stream = startEventStream(response);
        stream.event({ task: wireTaskFixture('working') });
        stream.write('data: 7\n\n');
        stream.event({ surprise: {} });
        stream.write('event: error\ndata: {"error":{"code":503,"message":"Too busy"}}\n\n');
        stream.end();
      },
      { onWarning: (problem) => problems.push(problem) },
    );
    await expect(collectStream(agent.stream(request))).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      message: 'Too busy',
    });
    expect(problems.map(({ kind }) => kind)).toEqual(['frame', 'frame']);
  });

  it.each([
    ['a task that is missing, in few words', { message: 'Task not found' }, 'TASK_NOT_FOUND'],
    ['an address that is missing', { detail: 'Not Found' }, 'NOT_FOUND'],
  ])('decodes the error %s', async (_name, body, reason) => {
    const { agent } = await agentThat((_asked, response) => respondJson(response, body, 404), {}, '0.3');
    await expect(agent.getTask({ id: 't1' })).rejects.toMatchObject({ reason, status: 404 });
  });

  it('accepts a 0.3 URL that ends with /v1', async () => {
    const server = await startRawServer((_asked, response) =>
      respondJson(response, { task: wireTaskFixture('completed') }),
    );
    const agent = connect(
      {
        name: 'Old',
        url: `${server.url}/v1`,
        protocolVersion: '0.3.0',
        preferredTransport: 'HTTP+JSON',
        version: '1',
        description: '',
        capabilities: {},
        skills: [],
      },
      { endpointCache: createEndpointCache() },
    );
    open.push(server, agent);
    await agent.send(request);
    expect(server.requests.map(({ path }) => path)).toEqual(['/v1/message:send']);
  });
});
