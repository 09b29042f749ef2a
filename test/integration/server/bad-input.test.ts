import { describe, expect, it } from 'vitest';
import { serveChecked } from '../../support/server/checked-server.ts';
import { sendRawRequest, rawRequest, type RawHttpResponse } from '../../support/http/raw-http.ts';

const maxBodyBytes = 2_000_000;
const guarded = serveChecked({}, { maxBodyBytes, limits: { parts: 50_000 } });

/** JSON-RPC requests of each version, and where its errors contain the path of an invalid field. */
const versions = {
  '0.1': { headers: { 'A2A-Version': '0.1' }, send: 'tasks/send', get: 'tasks/get', cancel: 'tasks/cancel' },
  '0.3': {
    headers: { 'A2A-Version': '0.3' },
    send: 'message/send',
    get: 'tasks/get',
    cancel: 'tasks/cancel',
  },
  '1.0': { headers: { 'A2A-Version': '1.0' }, send: 'SendMessage', get: 'GetTask', cancel: 'CancelTask' },
} as const;
type Spoken = keyof typeof versions;

async function ask(request: Buffer): Promise<RawHttpResponse> {
  const reply = await sendRawRequest(guarded.port, request);
  if (!reply) throw new Error('there was no reply');
  return reply;
}

function rpc(version: Spoken, body: unknown): Promise<RawHttpResponse> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return ask(rawRequest('POST', '/', text, versions[version].headers));
}

interface Refusal {
  jsonrpc: string;
  id: unknown;
  error: { code: number; message: string; data?: unknown };
}

async function refused(version: Spoken, body: unknown): Promise<Refusal> {
  const reply = await rpc(version, body);
  expect(reply.status).toBe(200);
  expect(reply.headers.get('content-type')).toBe('application/json');
  const refusal = JSON.parse(reply.body) as Refusal;
  expect(refusal).not.toHaveProperty('result');
  expect(refusal.jsonrpc).toBe('2.0');
  // Error data is an object in 0.1 and a list of details in 1.0.
  if (version === '0.1' && refusal.error.data !== undefined)
    expect(Array.isArray(refusal.error.data)).toBe(false);
  if (version === '1.0') expect(Array.isArray(refusal.error.data)).toBe(true);
  return refusal;
}

const call = (method: string, params?: unknown, id: unknown = 7) => ({ jsonrpc: '2.0', id, method, params });

describe.each(Object.keys(versions) as Spoken[])('invalid JSON-RPC input in %s', (version) => {
  const { send, get, cancel } = versions[version];

  it.each(['', '{', '{"jsonrpc":"2.0"', 'nonsense', '[1,', '\u0000', '{"a":1}{"b":2}', "{'a':1}"])(
    'returns a parse error for %j',
    async (text) => {
      expect(await refused(version, text === '' ? ' ' : text)).toMatchObject({
        id: null,
        error: { code: -32_700 },
      });
    },
  );

  it.each([
    [1],
    ['"x"'],
    [null],
    [true],
    [[]],
    [[call('tasks/get')]],
    [{}],
    [{ jsonrpc: '2.0' }],
    [{ jsonrpc: '1.0', id: 1, method: 'tasks/get' }],
    [{ jsonrpc: '2.0', id: {}, method: 'tasks/get' }],
    [{ jsonrpc: '2.0', id: 1, method: 5 }],
  ])('returns invalid request for %j', async (body) => {
    expect(await refused(version, body)).toMatchObject({ id: null, error: { code: -32_600 } });
  });

  it.each(['nothing', '', 'constructor', '__proto__', 'toString', 'hasOwnProperty', 'message/send/x'])(
    'returns method not found for %j',
    async (method) => {
      expect(await refused(version, call(method, {}))).toMatchObject({ id: 7, error: { code: -32_601 } });
    },
  );

  it.each<[unknown, string]>([
    [undefined, 'params'],
    ['x', 'params'],
    [[], 'params'],
    [{ id: 't' }, 'message'],
    [{ id: 't', message: 'x' }, 'message'],
    [{ id: 't', message: { messageId: 'm', role: 'user', parts: 'x' } }, 'message.parts'],
    [{ id: 't', message: { messageId: 'm', role: 'user', parts: [5] } }, 'message.parts[0]'],
  ])('names the invalid field of %j: %s', async (params, field) => {
    const { error, id } = await refused(version, call(send, params));
    expect(id).toBe(7);
    expect(error.code).toBe(-32_602);
    expect(error.message).toContain(field);
    expect(JSON.stringify(error.data)).toContain(`"field":"${field}"`);
  });

  it('returns task not found for an unknown task', async () => {
    expect(await refused(version, call(get, { id: 'no' }))).toMatchObject({
      id: 7,
      error: { code: -32_001 },
    });
    expect(await refused(version, call(cancel, { id: 'no' }))).toMatchObject({ error: { code: -32_001 } });
  });

  it('returns task not cancelable for a finished task', async () => {
    const refusal = await refused(version, call(cancel, { id: guarded.taskId }));
    expect(refusal).toMatchObject({ id: 7, error: { code: -32_002 } });
  });

  it.each(['a string', 0, -1, 1.5, null])('returns the request id %j', async (id) => {
    expect((await refused(version, call(get, { id: 'no' }, id))).id).toBe(id);
  });
});

it('rejects an unknown version with VersionNotSupported', async () => {
  for (const version of ['9.9', 'x', '1', '0.4']) {
    const body = JSON.stringify(call('GetTask', { id: 'x' }));
    const reply = await ask(rawRequest('POST', '/', body, { 'A2A-Version': version }));
    expect(JSON.parse(reply.body)).toMatchObject({ id: 7, error: { code: -32_009 } });
    const rest = await ask(rawRequest('GET', '/tasks/x', '', { 'A2A-Version': version }));
    expect(rest.status).toBe(400);
    expect(rest.body).toContain('VERSION_NOT_SUPPORTED');
  }
});

describe.each<[string, string, Record<string, string>]>([
  ['1.0', '', { 'A2A-Version': '1.0' }],
  ['0.3', '/v1', { 'A2A-Version': '0.3' }],
  ['0.3 without version header', '/v1', {}],
])('invalid REST input in %s', (version, prefix, headers) => {
  const isNew = version === '1.0';

  async function rest(verb: string, path: string, body = ''): Promise<{ status: number; error: any }> {
    const reply = await ask(rawRequest(verb, `${prefix}${path}`, body, headers));
    const parsed = JSON.parse(reply.body) as { error?: { message: string } };
    // 1.0 wraps the error, 0.3 does not.
    expect('error' in parsed).toBe(isNew);
    const error = parsed.error ?? parsed;
    expect(error).toHaveProperty('message');
    return { status: reply.status, error };
  }

  it('returns a parse error for malformed JSON', async () => {
    for (const text of ['{', 'nonsense', '{"a":1}}']) {
      const { status, error } = await rest('POST', '/message:send', text);
      expect(status).toBe(400);
      expect(error).toMatchObject({ code: isNew ? 400 : -32_700 });
    }
  });

  it('rejects bodies that are not objects', async () => {
    for (const text of ['1', '"x"', 'true']) {
      expect((await rest('POST', '/message:send', text)).status).toBe(400);
    }
  });

  it('names the invalid field', async () => {
    const { status, error } = await rest('POST', '/message:send', '{"message":{"parts":5}}');
    expect(status).toBe(400);
    expect(JSON.stringify(error)).toMatch(/"field":"message\.[a-zA-Z]+"/);
  });

  it('returns task not found for an unknown task', async () => {
    const { status, error } = await rest('GET', '/tasks/no');
    expect(status).toBe(404);
    expect(error).toMatchObject({ code: isNew ? 404 : -32_001 });
    expect((await rest('GET', '/tasks/%00')).status).toBe(404);
  });

  it('returns task not cancelable for a finished task', async () => {
    const { status, error } = await rest('POST', `/tasks/${guarded.taskId}:cancel`);
    expect(status).toBe(isNew ? 400 : 409);
    expect(JSON.stringify(error)).toContain('TASK_NOT_CANCELABLE');
  });

  it('returns 404 for unknown paths and 405 with Allow for wrong methods', async () => {
    expect((await rest('GET', '/nowhere/at/all')).status).toBe(404);
    expect((await rest('DELETE', '/message:send')).status).toBe(405);
    expect((await rest('GET', '/tasks/%E0%A4%A')).status).toBe(400);
  });

  it('does not resolve path traversal', async () => {
    for (const path of ['/tasks/../../etc/passwd', '/tasks/__proto__', '/tasks/constructor']) {
      expect((await rest('GET', path)).status).toBe(404);
    }
  });
});

describe('request body', () => {
  const params = (text: unknown) => ({ message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text }] } });
  const headers = versions['1.0'].headers;

  it('rejects a body that is nested too deeply', async () => {
    for (const levels of [101, 5_000, 100_000]) {
      const reply = await rpc('1.0', `${'['.repeat(levels)}${']'.repeat(levels)}`);
      expect(JSON.parse(reply.body)).toMatchObject({ error: { code: -32_600 } });
    }
    const within = `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}}`;
    expect(JSON.parse((await rpc('1.0', within)).body)).toMatchObject({ error: { code: -32_600 } });
  });

  it('keeps prototypes unchanged for __proto__ in a body', async () => {
    for (const text of [
      '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"__proto__":{"polluted":1},"id":"x"}}',
      '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"constructor":{"prototype":{"polluted":1}},"id":"x"}}',
      '{"__proto__":{"polluted":1},"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}',
    ]) {
      expect(JSON.parse((await rpc('1.0', text)).body)).toHaveProperty('error');
      expect(({} as { polluted?: number }).polluted).toBeUndefined();
    }
    await ask(rawRequest('GET', '/tasks?__proto__[polluted]=1&__proto__=x&constructor=y', '', headers));
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it.each(['text/plain', 'application/xml', 'multipart/form-data; boundary=x', 'application/jsonx', ''])(
    'rejects a body with content type %j',
    async (type) => {
      const body = JSON.stringify(call('GetTask', { id: 'x' }));
      const reply = await ask(rawRequest('POST', '/', body, { ...headers, 'Content-Type': type }));
      expect(reply.status).toBe(415);
      expect(JSON.parse(reply.body)).toMatchObject({ error: { code: -32_005 } });
    },
  );

  it('rejects a body that is not UTF-8, in the format of its path', async () => {
    const bytes = Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d]);
    const over = await ask(rawRequest('POST', '/', bytes, headers));
    expect(JSON.parse(over.body)).toMatchObject({ error: { code: -32_700 } });
    const rest = await ask(rawRequest('POST', '/message:send', bytes, headers));
    expect(rest.status).toBe(400);
    expect(JSON.parse(rest.body)).toMatchObject({ error: { code: 400 } });
    const older = await ask(rawRequest('POST', '/v1/message:send', bytes));
    expect(older.status).toBe(400);
    expect(JSON.parse(older.body)).toMatchObject({ code: -32_700 });
  });

  it('returns valid UTF-8 for a body with a lone surrogate', async () => {
    const reply = await rpc(
      '1.0',
      `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"s","role":"ROLE_USER","parts":[{"text":"\\ud800"}]}}}`,
    );
    expect(JSON.parse(reply.body)).toMatchObject({
      result: { task: { status: { state: 'TASK_STATE_COMPLETED' } } },
    });
  });

  it.each(['1e999', '-1e999', '1e400', '123456789012345678901234567890', '1.7976931348623157e308'])(
    'accepts the number %s in arbitrary data only',
    async (number) => {
      const data = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"n${number}","role":"ROLE_USER","parts":[{"data":${number}}]}}}`;
      expect(JSON.parse((await rpc('1.0', data)).body)).toHaveProperty('result');
      const count = `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x","historyLength":${number}}}`;
      expect(JSON.parse((await rpc('1.0', count)).body)).toMatchObject({ error: { code: -32_602 } });
    },
  );

  it('accepts a body with a megabyte of text and many parts', async () => {
    const long = 'x'.repeat(1_000_000);
    const one = await rpc('1.0', call('SendMessage', params(long)));
    expect(one.body).toContain(`You said: ${long}`);
    const message = {
      messageId: 'many',
      role: 'ROLE_USER',
      parts: Array.from({ length: 50_000 }, () => ({ text: 'y' })),
    };
    const many = await rpc('1.0', call('SendMessage', { message }));
    expect(many.body).toContain(`You said: ${'y'.repeat(50_000)}`);
  });
});
