import { describe, expect, it } from 'vitest';
import type { SendRequest } from '../../../../../src/protocol/requests.ts';
import type { TrafficRecord } from '../../../../../src/tap/traffic-record.ts';
import { checkDraft } from './check-draft.ts';
import { draftToCode, draftToCurl } from './copy-as.ts';
import { restoreRequest, saveRequest } from './draft-storage.ts';
import { withValueInModel } from './form-table.ts';
import { insertMember } from './insert-member.ts';
import { draftFromRecord, findRecordedAgent } from './record-draft.ts';
import {
  changeModel,
  createDraft,
  type DraftAgent,
  headerOf,
  readDraft,
  type RequestDraft,
  retargetRequest,
} from './request-draft.ts';

const agent: DraftAgent = {
  id: 'a',
  url: 'http://localhost:4000',
  endpoints: [
    { version: '1.0', transport: 'JSONRPC', url: 'http://localhost:4000/rpc' },
    { version: '1.0', transport: 'HTTP+JSON', url: 'http://localhost:4000/rest', tenant: 'acme' },
    { version: '1.0', transport: 'GRPC', url: 'http://localhost:4001' },
  ],
};
const send = { version: '1.0', transport: 'JSONRPC', operation: 'send' } as const;
const model: SendRequest = {
  message: { messageId: 'm', role: 'user', parts: [{ text: 'Hi' }], taskId: 't' },
};
const draft = createDraft(agent, send, model);
const check = (change: Partial<RequestDraft>) => checkDraft({ ...draft, ...change }, { canFillIn: false });

describe('request drafts', () => {
  it('write changes of the form into the text, and keep what the form does not know', () => {
    const body = draft.body.replace('"id": 1', '"id": "mine",\n  "extra": true');
    const after = withValueInModel(model, 'configuration.historyLength', 3);
    const changed = changeModel({ ...draft, body, url: 'http://localhost:4000/other' }, agent, {
      before: model,
      after,
    });
    expect(JSON.parse(changed.body)).toMatchObject({
      id: 'mine',
      extra: true,
      params: { message: { messageId: 'm' }, configuration: { historyLength: 3 } },
    });
    expect(changed.url).toBe('http://localhost:4000/other');
    expect(readDraft(changed)).toMatchObject({ configuration: { historyLength: 3 } });
  });

  it('write path parameters of REST into the URL', () => {
    const target = { version: '1.0', transport: 'HTTP+JSON', operation: 'getTask' } as const;
    const get = createDraft(agent, target, { id: 'a' });
    expect(get).toMatchObject({ method: 'GET', url: 'http://localhost:4000/rest/acme/tasks/a', body: '' });
    const changed = changeModel(get, agent, { before: { id: 'a' }, after: { id: 'b', historyLength: 1 } });
    expect(changed.url).toBe('http://localhost:4000/rest/acme/tasks/b?historyLength=1');
    expect(readDraft(changed)).toEqual({ id: 'b', historyLength: 1 });
  });

  it('translate into another version, with losses, and keep headers of the user', () => {
    const headers = [
      ...draft.headers,
      { name: 'X-Mine', value: '1' },
      { name: 'A2A-Extensions', value: 'u' },
    ];
    const { draft: older } = retargetRequest({ draft: { ...draft, headers }, model }, agent, {
      ...send,
      version: '0.3',
    });
    expect(JSON.parse(older.body)).toMatchObject({
      method: 'message/send',
      params: { message: { kind: 'message' } },
    });
    expect(headerOf(older, 'a2a-version')).toBe('');
    expect(headerOf(older, 'x-mine')).toBe('1');
    expect(headerOf(older, 'x-a2a-extensions')).toBe('u');
    const oldest = retargetRequest({ draft, model }, agent, { ...send, version: '0.1' });
    expect(oldest.losses.map(({ path }) => path)).toContain('message.taskId');
    expect(JSON.parse(oldest.draft.body)).toMatchObject({ method: 'tasks/send', params: { id: 't' } });
  });

  it('carry the task to another operation', () => {
    const { draft: next } = retargetRequest({ draft, model }, agent, { ...send, operation: 'cancelTask' });
    expect(JSON.parse(next.body)).toMatchObject({ method: 'CancelTask', params: { id: 't' } });
  });

  it('insert members with the objects around them', () => {
    const member = {
      path: 'message.parts[].metadata',
      type: '',
      isRequired: false,
      example: { key: 'value' },
    };
    expect(JSON.parse(insertMember(draft, member))).toMatchObject({
      params: { message: { parts: [{ text: 'Hi', metadata: { key: 'value' } }] } },
    });
  });
});

describe('checkDraft', () => {
  it('accepts a valid request', () => {
    expect(check({})).toEqual({
      problems: [],
      model: expect.objectContaining({ message: expect.anything() }),
    });
  });

  it.each<[string, Partial<RequestDraft>, string, number | undefined]>([
    ['invalid JSON', { body: '{\n "a": }' }, 'The body is not JSON: Expected a value', 2],
    ['an invalid value', { body: draft.body.replace('ROLE_USER', 'x') }, 'message.role must be ROLE_USER', 9],
    [
      'an unknown member',
      { body: draft.body.replace('"taskId"', '"taskID"') },
      'message.taskID is not a member',
      8,
    ],
    [
      'another method',
      { body: draft.body.replace('SendMessage', 'GetTask') },
      'method must be SendMessage',
      4,
    ],
    ['another version of JSON-RPC', { body: draft.body.replace('2.0', '1.0') }, 'jsonrpc must be "2.0"', 2],
    ['a missing header', { headers: [] }, 'The header A2A-Version is missing', undefined],
    [
      'a secret that nothing fills in',
      { headers: [...draft.headers, { name: 'authorization', value: '[redacted]' }] },
      'The value of authorization is redacted',
      undefined,
    ],
    ['an invalid URL', { url: 'nowhere' }, 'The URL is not valid', undefined],
  ])('reports %s', (_what, change, message, line) => {
    const [problem] = check(change).problems;
    expect(problem?.message).toContain(message);
    expect(problem?.position?.line).toBe(line);
  });

  it('allows any member in metadata', () => {
    const body = draft.body.replace('"taskId": "t"', '"metadata": {"any": {"thing": 1}}');
    expect(check({ body }).problems).toEqual([]);
  });
});

describe('draftFromRecord', () => {
  const record: TrafficRecord = {
    sequence: 1,
    at: 0,
    exchangeId: 'e',
    kind: 'request',
    from: 'a',
    to: 'b',
    http: {
      method: 'POST',
      url: 'http://localhost:4000/rpc',
      headers: { host: 'x', 'content-length': '3', authorization: '[redacted]', 'x-mine': '1' },
    },
    text: '{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":{}}',
    decoded: { operation: 'send', version: '1.0', transport: 'JSONRPC', summary: '', model },
  };

  it('keeps text and headers, without those of the connection', () => {
    expect(draftFromRecord(record, agent, true)).toMatchObject({
      ...send,
      url: 'http://localhost:4000/rpc',
      headers: [
        { name: 'authorization', value: '[redacted]' },
        { name: 'x-mine', value: '1' },
      ],
      body: JSON.stringify(JSON.parse(record.text), undefined, 2),
    });
  });

  it('writes the request of another agent or of a mesh anew', () => {
    const mesh = {
      ...record,
      http: undefined,
      decoded: { ...record.decoded, summary: '', transport: 'mesh' as const },
    };
    for (const each of [record, mesh as unknown as TrafficRecord])
      expect(draftFromRecord(each, agent, false)).toMatchObject({
        url: 'http://localhost:4000/rpc',
        body: draft.body,
      });
    expect(draftFromRecord({ ...record, decoded: { summary: '' } }, agent, false)).toBeUndefined();
  });

  it('finds the agent by origin and path', () => {
    const agents = [{ url: 'http://h:1/' }, { url: 'http://h:1/agents/a' }, { url: 'http://h:2' }];
    expect(findRecordedAgent('http://h:1/agents/a/rpc', agents)).toBe(agents[1]);
    expect(findRecordedAgent('http://h:3/', agents)).toBeUndefined();
    expect(findRecordedAgent('no url', agents)).toBeUndefined();
  });
});

describe('draft storage', () => {
  it('restores a draft without its secrets', () => {
    const stored = new Map<string, string>();
    const store = {
      getItem: (name: string) => stored.get(name) ?? null,
      setItem: (name: string, value: string) => void stored.set(name, value),
      removeItem: (name: string) => void stored.delete(name),
    };
    expect(restoreRequest(store)).toBeUndefined();
    const headers = [
      ...draft.headers,
      { name: 'Authorization', value: 'Bearer very-secret' },
      { name: 'X-Key', value: 'very-secret' },
    ];
    const body = draft.body.replace('"taskId": "t"', '"metadata": {"token": "very-secret"}');
    const url = 'http://localhost:4000/?api_key=very-secret';
    expect(
      saveRequest({ draft: { ...draft, headers, body, url }, model, losses: [] }, ['x-key'], store),
    ).toBe(true);
    expect([...stored.values()].join()).not.toContain('very-secret');
    expect(restoreRequest(store)).toMatchObject({
      model,
      draft: { operation: 'send', body: expect.stringContaining('m') },
    });
    stored.set([...stored.keys()][0] ?? '', '{"draft": {"version": "9"}}');
    expect(restoreRequest(store)).toBeUndefined();
    const full = {
      ...store,
      setItem: () => {
        throw new Error('full');
      },
    };
    expect(saveRequest({ draft, model, losses: [] }, [], full)).toBe(false);
    expect(stored.size).toBe(0);
  });
});

describe('copies', () => {
  it('are curl commands with variables in place of secrets', () => {
    const curl = draftToCurl(
      { ...draft, headers: [{ name: 'X-Key', value: 'abc' }], body: `{"a": "it's"}` },
      ['apiKey X-Key', 'bearer'],
    );
    expect(curl).toBe(
      String.raw`curl -sS -i -X POST 'http://localhost:4000/rpc' -H "x-key: $X_KEY" -H "authorization: $AUTHORIZATION" --data-raw '{"a": "it'\''s"}'`,
    );
  });

  it('are curl commands with bytes for gRPC', () => {
    const grpc = createDraft(agent, { ...send, transport: 'GRPC' }, model);
    expect(draftToCurl(grpc, [])).toMatch(
      /^echo 'AAAA.*--http2-prior-knowledge.*\/lf\.a2a\.v1\.A2AService\/SendMessage'/,
    );
    expect(draftToCurl({ ...grpc, body: '{"message": 7}' }, [])).toBeUndefined();
  });

  it('are programs with the client', () => {
    const code = draftToCode(draft, { url: "http://localhost:4000/it's", requiredCredentials: ['bearer'] });
    expect(code).toContain(
      `connect('http://localhost:4000/it\\'s', { versions: ['1.0'], transports: ['JSONRPC']`,
    );
    expect(code).toContain('"messageId": crypto.randomUUID()');
    expect(code).toContain('console.log(await agent.send({');
    const secret = {
      ...draft,
      body: draft.body.replace('"taskId": "t"', '"metadata": {"token": "very-secret"}'),
    };
    expect(draftToCode(secret, { url: 'http://x', requiredCredentials: [] })).toContain('[redacted]');
    expect(
      draftToCode({ ...draft, body: 'x' }, { url: 'http://x', requiredCredentials: [] }),
    ).toBeUndefined();
  });
});
