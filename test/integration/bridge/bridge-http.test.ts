import { request } from 'node:http';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import type { Bridge } from '../../../src/bridge/action-types.ts';
import { serveActions, type ServeActionsOptions } from '../../../src/bridge/http/serve-actions.ts';
import { schemasExtension } from '../../../src/bridge/actions/skill-actions.ts';
import { defineAgent } from '../../../src/engine/index.ts';
import { apiKeyAuth } from '../../../src/server/auth/schemes/api-key.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { bridgeToServedAgent, closeAfterTest } from '../../support/bridge/bridge-fixtures.ts';
import { createDeferred } from '../../support/engine/conversation.ts';

async function serving(made: Bridge, options: ServeActionsOptions = {}): Promise<string> {
  const server = await serveActions(made, options);
  closeAfterTest(() => server.stop(0));
  return server.url;
}

const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const jsonOf = async (answer: Promise<Response>): Promise<any> => (await answer).json();

/** The events of a stream that has ended. */
const eventsOf = (text: string): { event: string; data: any }[] =>
  text
    .split('\n\n')
    .filter((frame) => frame.startsWith('event:'))
    .map((frame) => ({
      event: /^event: (.*)$/m.exec(frame)?.[1] ?? '',
      data: JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? ''),
    }));

describe('actions over HTTP', () => {
  it('are listed, shown and called', async () => {
    const made = await bridgeToServedAgent(sampleAgent());
    const url = await serving(made);
    const { actions } = await jsonOf(fetch(`${url}/actions`));
    expect(actions).toEqual(JSON.parse(JSON.stringify(made.actions())));
    expect(await jsonOf(fetch(`${url}/actions/remote/echo`))).toEqual(actions[0]);
    expect(await jsonOf(fetch(`${url}/actions/provide_required_input`))).toEqual(actions[1]);
    const answer = await post(`${url}/actions/remote/echo:invoke`, {
      parameters: { prompt: 'hello' },
      sessionId: 's',
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(await answer.json()).toMatchObject({ success: true, message: 'hello', contextId: 's' });
  });

  it('ask and are answered', async () => {
    const url = await serving(await bridgeToServedAgent(sampleAgent()));
    const asked = await jsonOf(post(`${url}/actions/remote/echo:invoke`, { parameters: { prompt: 'ask' } }));
    expect(asked).toMatchObject({ status: 'INPUT_REQUIRED', followUpId: expect.any(String) });
    const parameters = { follow_up_id: asked.followUpId, user_response: 'This' };
    expect(await jsonOf(post(`${url}/actions/provide_required_input:invoke`, { parameters }))).toMatchObject({
      success: true,
      message: 'This',
    });
  });

  it('tell their progress as events', async () => {
    const url = await serving(await bridgeToServedAgent(sampleAgent()));
    const answer = await post(
      `${url}/actions/remote/echo:invoke`,
      { parameters: { prompt: 'stream' } },
      { accept: 'text/event-stream' },
    );
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    const events = eventsOf(await answer.text());
    const progress = events.filter(({ event }) => event === 'progress');
    expect(progress.map(({ data }) => data.message).join('')).toBe('01234');
    expect(events.at(-1)).toMatchObject({ event: 'result', data: { success: true, message: '01234' } });
  });

  it.each(['cancel', 'detach'] as const)('%s the task when the caller hangs up', async (onDisconnect) => {
    const agent = sampleAgent();
    const made = await bridgeToServedAgent(agent);
    const ended = createDeferred();
    const url = await serving(
      {
        ...made,
        actions: () => made.actions(),
        async invoke(...given) {
          const response = await made.invoke(...given);
          ended.resolve();
          return response;
        },
      } as Bridge,
      { onDisconnect },
    );
    const hangUp = new AbortController();
    const answer = await fetch(`${url}/actions/remote/echo:invoke`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ parameters: { prompt: 'slow' } }),
      signal: hangUp.signal,
    });
    const reader = answer.body?.getReader();
    const first = new TextDecoder().decode((await reader?.read())?.value);
    const { taskId } = eventsOf(first)[0]?.data ?? {};
    hangUp.abort();
    if (onDisconnect === 'cancel') {
      await ended.promise;
      expect((await agent.getTask({ id: taskId })).status.state).toBe('canceled');
    } else {
      expect((await agent.getTask({ id: taskId })).status.state).toBe('working');
      await agent.cancelTask({ id: taskId });
      await ended.promise;
    }
  });

  it.each<[string, string, unknown, Record<string, string>, number]>([
    ['of no action', '/actions/remote/other:invoke', {}, {}, 404],
    ['without the verb', '/actions/remote/echo', {}, {}, 404],
    ['that are no JSON', '/actions/remote/echo:invoke', '{', {}, 400],
    ['that are no object', '/actions/remote/echo:invoke', [], {}, 400],
    ['with parameters that are none', '/actions/remote/echo:invoke', { parameters: 1 }, {}, 400],
    ['with a wrong session', '/actions/remote/echo:invoke', { sessionId: '' }, {}, 400],
    ['with a wrong budget', '/actions/remote/echo:invoke', { waitBudget: -1 }, {}, 400],
    ['that a page could make', '/actions/remote/echo:invoke', '{}', { 'content-type': 'text/plain' }, 415],
    ['that are too large', '/actions/remote/echo:invoke', { a: 'x'.repeat(2_000) }, {}, 413],
  ])('refuse calls %s', async (_what, path, body, headers, expected) => {
    const url = await serving(await bridgeToServedAgent(sampleAgent()), { maxBodyBytes: 1_000 });
    const answer = await post(`${url}${path}`, body, headers);
    expect([answer.status, await answer.json()]).toEqual([
      expected,
      { error: { reason: expect.any(String), message: expect.any(String) } },
    ]);
  });

  it('answer mistakes in parameters in the one shape', async () => {
    const url = await serving(await bridgeToServedAgent(sampleAgent()));
    const answer = await post(`${url}/actions/remote/echo:invoke`, {});
    expect([answer.status, await answer.json()]).toMatchObject([
      200,
      { success: false, status: 'ERROR', message: 'prompt is required' },
    ]);
  });

  it('are for this machine under its own names, where nobody proves anything', async () => {
    const url = await serving(await bridgeToServedAgent(sampleAgent()));
    const statusWith = (host: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        request(`${url}/actions`, { headers: { host } }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        })
          .on('error', reject)
          .end();
      });
    expect(await statusWith('localhost:1')).toBe(200);
    expect(await statusWith('[::1]:1')).toBe(200);
    expect(await statusWith('evil.example.com')).toBe(403);
    expect(await statusWith('127.0.0.1.example.com')).toBe(403);
  });

  it('may be below a path', async () => {
    const url = await serving(await bridgeToServedAgent(sampleAgent()), { basePath: '/tools/' });
    expect((await fetch(`${url}/tools/actions`)).status).toBe(200);
    expect((await fetch(`${url}/actions`)).status).toBe(404);
    const { servers } = await jsonOf(fetch(`${url}/tools/openapi.json`));
    expect(servers).toEqual([{ url: `${url}/tools` }]);
  });

  it('have names that must be encoded', async () => {
    const agent = defineAgent({
      name: 'Odd',
      description: 'Odd',
      skills: [{ id: 'a/b:c d', name: 'Odd' }],
      process: () => 'ok',
    });
    const url = await serving(await bridgeToServedAgent(agent));
    const { paths } = await jsonOf(fetch(`${url}/openapi.json`));
    const path = Object.keys(paths).find((each) => each.startsWith('/actions/remote/')) ?? '';
    expect(path).toBe('/actions/remote/a%2Fb%3Ac%20d:invoke');
    for (const each of [path, '/actions/remote/a%2Fb:c%20d:invoke'])
      expect(await jsonOf(post(`${url}${each}`, { parameters: { prompt: 'x' } }))).toMatchObject({
        message: 'ok',
      });
  });
});

describe('callers that prove who they are', () => {
  const keys = { 'key-of-alice-0123456789': { id: 'alice' }, 'key-of-bob-0123456789': { id: 'bob' } };
  const auth = { authenticators: [apiKeyAuth({ in: 'header', name: 'x-api-key', keys })] };

  it('are asked to, and have follow-ups and contexts of their own', async () => {
    const url = await serving(await bridgeToServedAgent(sampleAgent()), { auth });
    expect((await fetch(`${url}/actions`)).status).toBe(401);
    expect((await post(`${url}/actions/remote/echo:invoke`, {})).headers.get('www-authenticate')).toContain(
      'ApiKey',
    );
    const as = (key: string, path: string, body: object) =>
      jsonOf(post(`${url}/actions/${path}:invoke`, body, { 'x-api-key': key }));
    const ask = { parameters: { prompt: 'ask' }, sessionId: 's' };
    const alices = await as('key-of-alice-0123456789', 'remote/echo', ask);
    const bobs = await as('key-of-bob-0123456789', 'remote/echo', ask);
    expect(alices.contextId).not.toBe(bobs.contextId);
    const answer = { parameters: { follow_up_id: alices.followUpId, user_response: 'x' }, sessionId: 's' };
    expect(await as('key-of-bob-0123456789', 'provide_required_input', answer)).toMatchObject({
      message: 'Invalid or expired follow-up ID.',
    });
    expect(await as('key-of-alice-0123456789', 'provide_required_input', answer)).toMatchObject({
      success: true,
    });
    const claimed = await post(
      `${url}/actions/remote/echo:invoke`,
      { parameters: { prompt: 'x' }, userId: 'alice' },
      { 'x-api-key': 'key-of-bob-0123456789' },
    );
    expect(claimed.status).toBe(400);
  });

  it('are told of it in the document', async () => {
    const url = await serving(await bridgeToServedAgent(sampleAgent()), { auth });
    const document = await jsonOf(
      fetch(`${url}/openapi.json`, { headers: { 'x-api-key': 'key-of-bob-0123456789' } }),
    );
    const [name = ''] = Object.keys(document.components.securitySchemes);
    expect(document.components.securitySchemes[name]).toMatchObject({ type: 'apiKey', in: 'header' });
    expect(document.security).toEqual([{ [name]: [] }]);
  });
});

describe('the OpenAPI document', () => {
  it('describes what is sent and what comes back', async () => {
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
    const url = await serving(await bridgeToServedAgent(agent), { title: 'Weather tools' });
    const document = await jsonOf(fetch(`${url}/openapi.json`));
    expect(document).toMatchObject({
      openapi: '3.1.0',
      info: { title: 'Weather tools' },
      servers: [{ url }],
    });
    const ajv = new Ajv2020({ strict: false });
    ajv.addSchema({ $id: 'doc', ...document });
    // Every schema of the document is one, and every reference leads somewhere.
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
    const response = await jsonOf(post(`${url}/actions/remote/now:invoke`, body));
    expect(response.data).toEqual({ degrees: 3 });
    expect(isResponse?.(response)).toBe(true);
    expect(isResponse?.({ ...response, data: {} })).toBe(false);
    const isList = ajv.getSchema('doc#/components/schemas/ActionList');
    expect(isList?.(await jsonOf(fetch(`${url}/actions`)))).toBe(true);
  });
});
