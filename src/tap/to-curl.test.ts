import { describe, expect, it } from 'vitest';
import { toCurl } from './to-curl.ts';
import type { TrafficRecord } from './traffic-record.ts';

const request: TrafficRecord = {
  sequence: 1,
  at: 0,
  exchangeId: 'a',
  kind: 'request',
  from: 'client',
  to: 'Echo',
  http: {
    method: 'POST',
    url: 'http://localhost:4000/',
    headers: {
      host: 'localhost:4000',
      authorization: '[redacted]',
      'content-type': 'application/json',
      'content-length': '9',
    },
  },
  text: `{"a":"it's"}`,
  decoded: { operation: 'stream', summary: 'stream' },
};

describe('toCurl', () => {
  it('repeats the request with secrets as shell variables', () => {
    expect(toCurl(request)).toBe(
      `curl -sS -i -N -m 30 -X POST 'http://localhost:4000/' -H "authorization: $AUTHORIZATION" -H 'content-type: application/json' --data-raw '{"a":"it'\\''s"}'`,
    );
  });

  it('has no command for gRPC', () => {
    const decoded = { transport: 'GRPC', summary: 'send' } as const;
    expect(toCurl({ ...request, decoded })).toBeUndefined();
  });

  it('quotes shell syntax in every field', () => {
    const http = {
      method: 'POST; touch pwned',
      url: 'http://localhost:4000/$(touch pwned)',
      headers: { 'x-`touch`-$(pwned)': '[redacted]', "it's": '"; touch pwned' },
    };
    expect(toCurl({ ...request, http, text: '' })).toBe(
      `curl -sS -i -N -m 30 -X 'POST; touch pwned' 'http://localhost:4000/$(touch pwned)' -H 'x-\`touch\`-$(pwned): '"$X__TOUCH____PWNED_" -H 'it'\\''s: "; touch pwned'`,
    );
    for (const url of ['--config=/tmp/x', 'file:///etc/passwd', ''])
      expect(toCurl({ ...request, http: { ...http, url } })).toBeUndefined();
  });

  it('marks a truncated body', () => {
    expect(toCurl({ ...request, truncatedBy: 5 })).toContain(`--data-raw '[redacted]: 17 characters'`);
  });

  it('returns undefined for records other than requests', () => {
    expect(toCurl({ ...request, kind: 'response' })).toBeUndefined();
    const { http: _none, ...message } = request;
    expect(toCurl({ ...message, kind: 'message' })).toBeUndefined();
  });
});
