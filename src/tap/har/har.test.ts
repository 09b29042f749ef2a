import { describe, expect, it } from 'vitest';
import { redactedPlaceholder } from '../../primitives/redaction/redaction.ts';
import type { TrafficRecord } from '../traffic-record.ts';
import { harSchema } from './har-schema.ts';
import { readHar } from './read-har.ts';
import { readTraffic } from './read-traffic.ts';
import { formatHar } from './write-har.ts';

const url = 'http://127.0.0.1:4000/a2a?page=1';
const message = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'SendStreamingMessage',
  params: { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] } },
});
const frame = (state: string): string =>
  `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: { statusUpdate: { taskId: 't', contextId: 'c', status: { state } } } })}`;

const entry = (changes: object = {}) => ({
  startedDateTime: '2026-06-01T12:00:00.000+02:00',
  time: 30,
  request: {
    method: 'POST',
    url,
    httpVersion: 'HTTP/2',
    cookies: [],
    headers: [
      { name: ':authority', value: '127.0.0.1' },
      { name: 'Content-Type', value: 'application/json' },
      { name: 'A2A-Version', value: '1.0' },
      { name: 'Authorization', value: 'Bearer secret-of-alice' },
    ],
    queryString: [{ name: 'page', value: '1' }],
    postData: { mimeType: 'application/json', text: message },
    headersSize: -1,
    bodySize: -1,
  },
  response: {
    status: 200,
    statusText: 'OK',
    httpVersion: 'HTTP/2',
    cookies: [],
    headers: [{ name: 'Content-Type', value: 'text/event-stream' }],
    content: {
      size: 1,
      mimeType: 'text/event-stream',
      text: `: hello\r\n\r\n${frame('TASK_STATE_WORKING')}\r\n\r\n${frame('TASK_STATE_COMPLETED')}\r\n\r\n`,
    },
    redirectURL: '',
    headersSize: -1,
    bodySize: -1,
  },
  cache: {},
  timings: { send: 1, wait: 9, receive: 20 },
  ...changes,
});
const archive = (...entries: object[]) =>
  JSON.stringify({ log: { version: '1.2', creator: { name: 'Chrome', version: '140' }, entries } });

describe('readHar', () => {
  it('decodes and redacts the exchanges of a browser like live traffic', () => {
    const records = readHar(archive(entry()));
    expect(records.map(({ kind, decoded }) => [kind, decoded?.version, decoded?.summary])).toEqual([
      ['request', '1.0', expect.stringContaining('hi')],
      ['response', '1.0', expect.anything()],
      ['frame', '1.0', expect.stringContaining('working')],
      ['frame', '1.0', expect.stringContaining('completed')],
      ['end', '1.0', 'The stream ended'],
    ]);
    expect(records[0]).toMatchObject({ from: 'client', to: '127.0.0.1:4000', sequence: 1 });
    expect(records[0]?.http?.headers).toMatchObject({
      authorization: redactedPlaceholder,
      'a2a-version': '1.0',
    });
    expect(JSON.stringify(records)).not.toContain('secret-of-alice');
  });

  it('reads bodies in base64', () => {
    const content = { size: 2, mimeType: 'application/json', encoding: 'base64', text: btoa('{"a":1}') };
    const [, response] = readHar(archive(entry({ response: { ...entry().response, content } })));
    expect(response?.text).toBe('{"a":1}');
  });

  it.each([
    ['not JSON', '{"log":', /it is not JSON/],
    ['no entries', '{"log":{"version":"1.2"}}', /log\.creator/],
    [
      'a foreign protocol',
      archive(entry({ request: { ...entry().request, url: 'javascript:alert(1)' } })),
      /url/,
    ],
    ['an invalid time', archive(entry({ startedDateTime: 'today' })), /startedDateTime/],
    ['too many entries', archive(...Array.from({ length: 20_001 }, () => ({}))), /entries/],
    ['a text that is an object', archive(entry({ time: { toString: 1 } })), /time/],
    ['deep nesting', `{"log":${'['.repeat(5_000)}`, /it is not JSON/],
  ])('rejects %s and names the member', (_name, text, message) => {
    expect(() => readHar(text)).toThrow(message);
  });

  it('tells archives from traffic files', () => {
    expect(readTraffic(` \n${archive(entry())}`)).toHaveLength(5);
    expect(readTraffic('{"format":"dragoman-tap","version":1}\n')).toEqual([]);
  });
});

describe('formatHar', () => {
  it('writes HAR 1.2 that it reads again with the same content, times and names', () => {
    const records = readHar(archive(entry(), entry({ startedDateTime: '2026-06-01T12:00:00.010+02:00' })));
    const text = formatHar(records);
    expect(harSchema.safeParse(JSON.parse(text)).error).toBeUndefined();
    const without = (each: TrafficRecord) => ({ ...each, exchangeId: '' });
    expect(readHar(text).map(without)).toEqual(records.map(without));
  });

  it('keeps exchanges without a response, and leaves out mesh messages', () => {
    const base = { at: 0, exchangeId: 'e', from: 'a', to: 'b', text: '' };
    const http = { method: 'GET', url, headers: {} };
    const text = formatHar([
      { ...base, sequence: 1, kind: 'request', http },
      {
        ...base,
        sequence: 2,
        kind: 'end',
        at: 5,
        text: 'connection refused',
        decoded: { summary: '', isError: true },
      },
      { ...base, sequence: 3, kind: 'message', exchangeId: 'm', mesh: { topic: 't', properties: {} } },
    ]);
    const { entries } = harSchema.parse(JSON.parse(text)).log;
    expect(entries).toMatchObject([{ time: 5, response: { status: 0 }, _error: 'connection refused' }]);
    expect(readHar(text).map(({ kind, text }) => [kind, text])).toEqual([
      ['request', ''],
      ['end', 'connection refused'],
    ]);
  });

  it('writes messages of gRPC as JSON', () => {
    const headers = { 'content-type': 'application/grpc' };
    const http = { method: 'POST', url: 'http://127.0.0.1:4000/lf.a2a.v1.A2AService/GetTask', headers };
    const base = { at: 0, exchangeId: 'e', from: 'a', to: 'b' };
    const text = formatHar([
      { ...base, sequence: 1, kind: 'request', text: '{"id":"t"}', http },
      { ...base, sequence: 2, kind: 'response', text: '{"id":"t"}', http: { ...http, status: 200 } },
    ]);
    const [{ request, response } = entry()] = harSchema.parse(JSON.parse(text)).log.entries;
    expect(request).toMatchObject({ httpVersion: 'HTTP/2', postData: { mimeType: 'application/json' } });
    expect(response.content).toMatchObject({ mimeType: 'application/json', text: '{"id":"t"}' });
    expect(readHar(text)[0]?.decoded).toMatchObject({ transport: 'GRPC', operation: 'getTask' });
  });
});
