import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { Redactor } from '../../primitives/redaction/redaction.ts';
import type { HttpExchange } from '../wire/http-exchange.ts';
import { prefixMessage } from '../wire/grpc/grpc-message-reader.ts';
import { readStatus } from '../wire/grpc/grpc-status.ts';
import { toTranscriptEntry } from './transcript.ts';

const trailers = { 'grpc-status': '5', 'grpc-message': 'Task not found' };
const bytes = Buffer.from(prefixMessage(Buffer.from([0x12, 1, 0x61])));
const exchange = (requestBody: string): HttpExchange => ({
  number: 1,
  method: 'POST',
  url: 'http://127.0.0.1:4000/lf.a2a.v1.A2AService/GetTask',
  requestHeaders: { 'a2a-version': '1.0', authorization: 'Bearer secret-token' },
  requestBody,
  status: 200,
  headers: { 'content-type': 'application/grpc' },
  body: '{"error":{"code":5}}',
  hasInvalidUtf8: false,
  frames: [],
  end: 'complete',
  transportError: undefined,
  headersMs: 1,
  totalMs: 2,
  grpc: {
    status: readStatus(trailers),
    trailers,
    isTrailersOnly: false,
    messages: [],
    incompleteBytes: 0,
    resetCode: 0,
    requestBytes: bytes.toString('base64'),
  },
});
const redactor = new Redactor({ authorization: 'Bearer secret-token' });

it('writes a call over gRPC with its trailers and a curl command with its bytes', () => {
  const { response, request, curl } = toTranscriptEntry(exchange('{"id":"a"}'), redactor);
  expect(response.trailers).toEqual(trailers);
  expect(request.body).toBe('{"id":"a"}');
  expect(curl).toContain('curl -sS -i --http2-prior-knowledge -X POST');
  expect(curl).toContain("-H 'te: trailers'");
  expect(curl).not.toContain('secret-token');
  const [decode = ''] = curl.split(' | curl ');
  expect(execFileSync('sh', ['-c', decode])).toEqual(bytes);
});

it('writes no bytes of a call that contains a secret', () => {
  const { curl } = toTranscriptEntry(exchange('{"id":"a","token":"secret-token"}'), redactor);
  expect(curl).not.toContain(bytes.toString('base64'));
});
