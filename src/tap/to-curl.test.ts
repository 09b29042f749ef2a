import { describe, expect, it } from 'vitest';
import { toCurl } from './to-curl.ts';
import type { TrafficRecord } from './traffic-record.ts';

const request: TrafficRecord = {
  sequence: 1,
  at: 0,
  exchangeId: 'a',
  kind: 'request',
  from: 'caller',
  to: 'Echo',
  http: {
    method: 'POST',
    url: 'http://localhost:4000/',
    headers: {
      host: 'localhost:4000',
      authorization: '[removed]',
      'content-type': 'application/json',
      'content-length': '9',
    },
  },
  text: `{"a":"it's"}`,
  decoded: { operation: 'stream', summary: 'stream' },
};

describe('a passage as a command', () => {
  it('asks the same again, with secrets as variables of the shell', () => {
    expect(toCurl(request)).toBe(
      `curl -sS -i -N -m 30 -X POST 'http://localhost:4000/' -H "authorization: $AUTHORIZATION" -H 'content-type: application/json' --data-raw '{"a":"it'\\''s"}'`,
    );
  });

  it('has no words in it that a shell would take for commands, whatever a file says', () => {
    const http = {
      method: 'POST; touch pwned',
      url: 'http://localhost:4000/$(touch pwned)',
      headers: { 'x-`touch`-$(pwned)': '[removed]', "it's": '"; touch pwned' },
    };
    expect(toCurl({ ...request, http, text: '' })).toBe(
      `curl -sS -i -N -m 30 -X 'POST; touch pwned' 'http://localhost:4000/$(touch pwned)' -H 'x-\`touch\`-$(pwned): '"$X__TOUCH____PWNED_" -H 'it'\\''s: "; touch pwned'`,
    );
    for (const url of ['--config=/tmp/x', 'file:///etc/passwd', ''])
      expect(toCurl({ ...request, http: { ...http, url } })).toBeUndefined();
  });

  it('says so where the body is not all there', () => {
    expect(toCurl({ ...request, truncatedBy: 5 })).toContain(`--data-raw '[removed]: 17 characters'`);
  });

  it('is none for anything but a request', () => {
    expect(toCurl({ ...request, kind: 'response' })).toBeUndefined();
    const { http: _none, ...message } = request;
    expect(toCurl({ ...message, kind: 'message' })).toBeUndefined();
  });
});
