import { request } from 'node:http';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import type { Bridge } from '../../../src/bridge/action-types.ts';
import { serveActions, type ServeActionsOptions } from '../../../src/bridge/http/serve-actions.ts';
import { schemasExtension } from '../../../src/protocol/card.ts';
import { defineAgent } from '../../../src/engine/index.ts';
import { apiKeyAuth } from '../../../src/server/auth/schemes/api-key.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { bridgeToServedAgent, closeAfterTest } from '../../support/bridge/bridge-fixtures.ts';
import { createDeferred } from '../../support/engine/conversation.ts';

async function startServer(actionsBridge: Bridge, options: ServeActionsOptions = {}): Promise<string> {
  const server = await serveActions(actionsBridge, options);
  closeAfterTest(() => server.stop(0));
  return server.url;
}

const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const readJson = async (response: Promise<Response>): Promise<any> => (await response).json();

/** Parses the events of a complete stream. */
const parseEvents = (text: string): { event: string; data: any }[] =>
  text
    .split('\n\n')
    .filter((frame) => frame.startsWith('event:'))
    .map((frame) => ({
      event: /^event: (.*)$/m.exec(frame)?.[1] ?? '',
      data: JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? ''),
    }));

describe('serveActions', () => {
  it('lists, describes and invokes actions', async () => {
    const actionsBridge = await bridgeToServedAgent(sampleAgent());
    const url = await startServer(actionsBridge);
    const { description, actions } = await readJson(fetch(`${url}/actions`));
    expect(description).toBe('Actions from the skills of remote: remote/echo, provide_required_input.');
    expect(actionsBridge.describe()).toBe(description);
    expect((await readJson(fetch(`${url}/openapi.json`))).info.description).toBe(description);
    expect(actions).toEqual(JSON.parse(JSON.stringify(actionsBridge.actions())));
    expect(await readJson(fetch(`${url}/actions/remote/echo`))).toEqual(actions[0]);
    expect(await readJson(fetch(`${url}/actions/provide_required_input`))).toEqual(actions[1]);
    const response = await post(`${url}/actions/remote/echo:invoke`, {
      parameters: { prompt: 'hello' },
      sessionId: 's',
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toMatchObject({ success: true, message: 'hello', contextId: 's' });
  });

  it('continues an input-required task by follow-up ID', async () => {
    const url = await startServer(await bridgeToServedAgent(sampleAgent()));
    const question = await readJson(
      post(`${url}/actions/remote/echo:invoke`, { parameters: { prompt: 'ask' } }),
    );
    expect(question).toMatchObject({ status: 'INPUT_REQUIRED', followUpId: expect.any(String) });
    const parameters = { follow_up_id: question.followUpId, user_response: 'This' };
    expect(
      await readJson(post(`${url}/actions/provide_required_input:invoke`, { parameters })),
    ).toMatchObject({
      success: true,
      message: 'This',
    });
  });

  it('streams progress and the result as server-sent events', async () => {
    const url = await startServer(await bridgeToServedAgent(sampleAgent()));
    const response = await post(
      `${url}/actions/remote/echo:invoke`,
      { parameters: { prompt: 'stream' } },
      { accept: 'text/event-stream' },
    );
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const events = parseEvents(await response.text());
    const progress = events.filter(({ event }) => event === 'progress');
    expect(progress.map(({ data }) => data.message).join('')).toBe('01234');
    expect(events.at(-1)).toMatchObject({ event: 'result', data: { success: true, message: '01234' } });
  });

  it.each(['cancel', 'detach'] as const)(
    'applies onDisconnect: %s when the client disconnects',
    async (onDisconnect) => {
      const agent = sampleAgent();
      const actionsBridge = await bridgeToServedAgent(agent);
      const ended = createDeferred();
      const url = await startServer(
        {
          ...actionsBridge,
          actions: () => actionsBridge.actions(),
          async invoke(...args) {
            const response = await actionsBridge.invoke(...args);
            ended.resolve();
            return response;
          },
        } as Bridge,
        { onDisconnect },
      );
      const controller = new AbortController();
      const response = await fetch(`${url}/actions/remote/echo:invoke`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify({ parameters: { prompt: 'slow' } }),
        signal: controller.signal,
      });
      const reader = response.body?.getReader();
      const first = new TextDecoder().decode((await reader?.read())?.value);
      const { taskId } = parseEvents(first)[0]?.data ?? {};
      controller.abort();
      if (onDisconnect === 'cancel') {
        await ended.promise;
        expect((await agent.getTask({ id: taskId })).status.state).toBe('canceled');
      } else {
        expect((await agent.getTask({ id: taskId })).status.state).toBe('working');
        await agent.cancelTask({ id: taskId });
        await ended.promise;
      }
    },
  );

  it.each<[string, string, unknown, Record<string, string>, number]>([
    ['an unknown action', '/actions/remote/other:invoke', {}, {}, 404],
    ['a path without :invoke', '/actions/remote/echo', {}, {}, 404],
    ['malformed JSON', '/actions/remote/echo:invoke', '{', {}, 400],
    ['a body that is not an object', '/actions/remote/echo:invoke', [], {}, 400],
    ['parameters that are not an object', '/actions/remote/echo:invoke', { parameters: 1 }, {}, 400],
    ['an empty session id', '/actions/remote/echo:invoke', { sessionId: '' }, {}, 400],
    ['a negative wait budget', '/actions/remote/echo:invoke', { waitBudget: -1 }, {}, 400],
    [
      'a content type without CORS preflight',
      '/actions/remote/echo:invoke',
      '{}',
      { 'content-type': 'text/plain' },
      415,
    ],
    ['a body that is too large', '/actions/remote/echo:invoke', { a: 'x'.repeat(2_000) }, {}, 413],
  ])('rejects %s', async (_what, path, body, headers, expected) => {
    const url = await startServer(await bridgeToServedAgent(sampleAgent()), { maxBodyBytes: 1_000 });
    const response = await post(`${url}${path}`, body, headers);
    expect([response.status, await response.json()]).toEqual([
      expected,
      { error: { reason: expect.any(String), message: expect.any(String) } },
    ]);
  });

  it('responds 200 with an ActionResponse for invalid parameters', async () => {
    const url = await startServer(await bridgeToServedAgent(sampleAgent()));
    const response = await post(`${url}/actions/remote/echo:invoke`, {});
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { success: false, status: 'ERROR', message: 'prompt is required' },
    ]);
  });

  it('responds 403 to foreign host names without auth (DNS rebinding)', async () => {
    const url = await startServer(await bridgeToServedAgent(sampleAgent()));
    const statusWith = (host: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        request(`${url}/actions`, { headers: { host } }, (response) => {
          response.resume();
          resolve(response.statusCode);
        })
          .on('error', reject)
          .end();
      });
    expect(await statusWith('localhost:1')).toBe(200);
    expect(await statusWith('[::1]:1')).toBe(200);
    expect(await statusWith('evil.example.com')).toBe(403);
    expect(await statusWith('127.0.0.1.example.com')).toBe(403);
  });

  it('serves below basePath', async () => {
    const url = await startServer(await bridgeToServedAgent(sampleAgent()), { basePath: '/tools/' });
    expect((await fetch(`${url}/tools/actions`)).status).toBe(200);
    expect((await fetch(`${url}/actions`)).status).toBe(404);
    const { servers } = await readJson(fetch(`${url}/tools/openapi.json`));
    expect(servers).toEqual([{ url: `${url}/tools` }]);
  });

  it('accepts encoded action names', async () => {
    const agent = defineAgent({
      name: 'Odd',
      description: 'Odd',
      skills: [{ id: 'a/b:c d', name: 'Odd' }],
      process: () => 'ok',
    });
    const url = await startServer(await bridgeToServedAgent(agent));
    const { paths } = await readJson(fetch(`${url}/openapi.json`));
    const path = Object.keys(paths).find((each) => each.startsWith('/actions/remote/')) ?? '';
    expect(path).toBe('/actions/remote/a%2Fb%3Ac%20d:invoke');
    for (const each of [path, '/actions/remote/a%2Fb:c%20d:invoke'])
      expect(await readJson(post(`${url}${each}`, { parameters: { prompt: 'x' } }))).toMatchObject({
        message: 'ok',
      });
  });
});

describe('serveActions with auth', () => {
  const keys = { 'key-of-alice-0123456789': { id: 'alice' }, 'key-of-bob-0123456789': { id: 'bob' } };
  const auth = { authenticators: [apiKeyAuth({ in: 'header', name: 'x-api-key', keys })] };

  it('responds 401 without credentials and isolates follow-ups and contexts of users', async () => {
    const url = await startServer(await bridgeToServedAgent(sampleAgent()), { auth });
    expect((await fetch(`${url}/actions`)).status).toBe(401);
    expect((await post(`${url}/actions/remote/echo:invoke`, {})).headers.get('www-authenticate')).toContain(
      'ApiKey',
    );
    const as = (key: string, path: string, body: object) =>
      readJson(post(`${url}/actions/${path}:invoke`, body, { 'x-api-key': key }));
    const askQuestion = { parameters: { prompt: 'ask' }, sessionId: 's' };
    const alices = await as('key-of-alice-0123456789', 'remote/echo', askQuestion);
    const bobs = await as('key-of-bob-0123456789', 'remote/echo', askQuestion);
    expect(alices.contextId).not.toBe(bobs.contextId);
    const response = { parameters: { follow_up_id: alices.followUpId, user_response: 'x' }, sessionId: 's' };
    expect(await as('key-of-bob-0123456789', 'provide_required_input', response)).toMatchObject({
      message: 'Invalid or expired follow-up ID.',
    });
    expect(await as('key-of-alice-0123456789', 'provide_required_input', response)).toMatchObject({
      success: true,
    });
    const claimed = await post(
      `${url}/actions/remote/echo:invoke`,
      { parameters: { prompt: 'x' }, userId: 'alice' },
      { 'x-api-key': 'key-of-bob-0123456789' },
    );
    expect(claimed.status).toBe(400);
  });

  it('declares the security schemes in the OpenAPI document', async () => {
    const url = await startServer(await bridgeToServedAgent(sampleAgent()), { auth });
    const document = await readJson(
      fetch(`${url}/openapi.json`, { headers: { 'x-api-key': 'key-of-bob-0123456789' } }),
    );
    const [name = ''] = Object.keys(document.components.securitySchemes);
    expect(document.components.securitySchemes[name]).toMatchObject({ type: 'apiKey', in: 'header' });
    expect(document.security).toEqual([{ [name]: [] }]);
  });
});

describe('OpenAPI document', () => {
  it('describes requests and responses with valid schemas', async () => {
    const output_schema = {
      type: 'object',
      properties: { degrees: { type: 'number' } },
      required: ['degrees'],
    };
    const agent = defineAgent({
      name: 'Weather',
      description: 'Weather',
      skills: [
        { id: 'now', name: 'Now', description: 'Weather in {city}', examples: ['Oslo'], tags: ['weather'] },
      ],
      extensions: [{ uri: schemasExtension, params: { skills: { now: { output_schema } } } }],
      async *process() {
        yield { artifact: { artifactId: 'a', parts: [{ data: { degrees: 3 } }] } };
      },
    });
    const url = await startServer(await bridgeToServedAgent(agent), { title: 'Weather tools' });
    const document = await readJson(fetch(`${url}/openapi.json`));
    expect(document).toMatchObject({
      openapi: '3.1.0',
      info: { title: 'Weather tools' },
      servers: [{ url }],
    });
    const ajv = new Ajv2020({ strict: false });
    ajv.addSchema({ $id: 'doc', ...document });
    // Compiles every schema, which also resolves every reference.
    for (const name of Object.keys(document.components.schemas))
      expect(ajv.getSchema(`doc#/components/schemas/${name}`)).toBeTypeOf('function');
    const ids = Object.values<any>(document.paths).flatMap((item) =>
      Object.values<any>(item).map((each) => each.operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
    const { post: operation } = document.paths['/actions/remote/now:invoke'];
    expect(operation).toMatchObject({ operationId: 'remote_now', summary: 'Now', tags: ['weather'] });
    expect(operation.description).toContain('- Oslo');
    const at = (...keys: string[]) =>
      ajv.getSchema(
        `doc#/paths/~1actions~1remote~1now:invoke/post/${keys.map((key) => key.replaceAll('/', '~1')).join('/')}`,
      );
    const isRequest = at('requestBody', 'content', 'application/json', 'schema');
    const isResponse = at('responses', '200', 'content', 'application/json', 'schema');
    const body = { parameters: { city: 'Oslo' }, sessionId: 's' };
    expect(isRequest?.(body)).toBe(true);
    expect(isRequest?.({ parameters: {} })).toBe(false);
    const response = await readJson(post(`${url}/actions/remote/now:invoke`, body));
    expect(response.data).toEqual({ degrees: 3 });
    expect(isResponse?.(response)).toBe(true);
    expect(isResponse?.({ ...response, data: {} })).toBe(false);
    const isList = ajv.getSchema('doc#/components/schemas/ActionList');
    expect(isList?.(await readJson(fetch(`${url}/actions`)))).toBe(true);
  });
});
