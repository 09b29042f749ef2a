import { describe, expect, it } from 'vitest';
import { RequestHeadParser } from './request-head-parser.ts';

const limits = { headerBytes: 1_000, headers: 5, bodyBytes: 100 };
const parse = (text: string) => new RequestHeadParser(limits).parse(Buffer.from(text, 'latin1'));

describe('RequestHeadParser', () => {
  it('returns lower-case headers and the body offset', () => {
    const head = parse('POST /a?b=c HTTP/1.1\r\nHost: x\r\nContent-Length:  5 \r\nX-Empty:\r\n\r\nhello');
    expect(head).toEqual({
      method: 'POST',
      target: '/a?b=c',
      headers: { host: 'x', 'content-length': '5', 'x-empty': '' },
      bodyAt: 64,
      end: 69,
    });
  });

  it('accepts a request with an incomplete body', () => {
    const text = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n';
    expect(parse(text)?.end).toBe(text.length + 5);
  });

  it.each([
    'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: x\r\nConnection: Keep-Alive\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n',
    'DELETE /a HTTP/1.1\r\nHost: x\r\n\r\n',
  ])('returns no body for %j', (text) => {
    expect(parse(text)?.end).toBe(text.length);
  });
});

describe('RequestHeadParser with cached heads', () => {
  const parser = new RequestHeadParser(limits);
  const parse = (text: string) => parser.parse(Buffer.from(text, 'latin1'));
  const request = (host: string, body = '') =>
    `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

  it('returns the same frozen head for equal bytes', () => {
    const first = parse(request('x', 'one'));
    expect(parse(request('x', 'two'))).toBe(first);
    expect(Object.isFrozen(first?.headers)).toBe(true);
  });

  it('distinguishes heads of equal length', () => {
    expect(['x', 'y', 'x'].map((host) => parse(request(host))?.headers.host)).toEqual(['x', 'y', 'x']);
    expect(parse(request('x', 'a'))?.end).toBe(parse(request('x'))!.end + 1);
  });

  it('rejects a head that differs from a cached one in one byte', () => {
    parse(request('x'));
    expect(parse(request('\0'))).toBeUndefined();
  });
});

describe('RequestHeadParser returns undefined if the head', () => {
  const post = (...lines: string[]) => ['POST / HTTP/1.1', 'Host: x', ...lines, '', ''].join('\r\n');

  it.each([
    ['is incomplete', 'GET / HTTP/1.1\r\nHost: x\r\n'],
    ['has no headers', 'GET / HTTP/1.1\r\n\r\n'],
    ['has no host', 'GET / HTTP/1.1\r\nA: b\r\n\r\n'],
    ['has another HTTP version', 'GET / HTTP/1.0\r\nHost: x\r\n\r\n'],
    ['has another method', 'HEAD / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['has a lower-case method', 'get / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['has an absolute URL', 'GET http://y/ HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['has two spaces', 'GET  / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['has a control character in its path', 'GET /\t HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['begins with an empty line', '\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['ends the request line with LF', 'GET / HTTP/1.1\nHost: x\r\n\r\n'],
    ['ends a header with LF', 'GET / HTTP/1.1\r\nHost: x\nA: b\r\n\r\n'],
    ['has CR within a header', 'GET / HTTP/1.1\r\nHost: x\rA: b\r\n\r\n'],
    ['has NUL', 'GET / HTTP/1.1\r\nHost: x\0\r\n\r\n'],
    ['has a non-ASCII character', 'GET / HTTP/1.1\r\nHost: \xe9\r\n\r\n'],
    ['has a folded header', 'GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n'],
    ['has a space before a colon', 'GET / HTTP/1.1\r\nHost : x\r\n\r\n'],
    ['has a header without a name', 'GET / HTTP/1.1\r\nHost: x\r\n: b\r\n\r\n'],
    ['has a header without a colon', 'GET / HTTP/1.1\r\nHost: x\r\nA\r\n\r\n'],
    ['has an unusual header name', 'GET / HTTP/1.1\r\nHost: x\r\n__proto__: b\r\n\r\n'],
    ['has a header named like an Object member', 'GET / HTTP/1.1\r\nHost: x\r\nconstructor: b\r\n\r\n'],
    ['has a duplicate header', 'GET / HTTP/1.1\r\nHost: x\r\nHOST: y\r\n\r\n'],
    ['has a GET body', 'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx'],
    ['has no Content-Length', post()],
    ['has Content-Length twice', post('Content-Length: 1', 'content-length: 1')],
    ['has a signed Content-Length', post('Content-Length: +1')],
    ['has a hexadecimal Content-Length', post('Content-Length: 0x1')],
    ['has an empty Content-Length', post('Content-Length: ')],
    ['has Transfer-Encoding', post('Content-Length: 1', 'Transfer-Encoding: chunked')],
    ['has Expect', post('Content-Length: 1', 'Expect: 100-continue')],
    ['has Upgrade', post('Content-Length: 0', 'Upgrade: websocket')],
    ['has Connection: close', post('Content-Length: 0', 'Connection: close')],
    ['has Proxy-Connection: close', post('Content-Length: 0', 'Proxy-Connection: close')],
    ['has several Connection options', post('Content-Length: 0', 'Connection: keep-alive, x')],
    ['has a body above the limit', post('Content-Length: 101')],
    ['has too many headers', post('Content-Length: 0', 'A: 1', 'B: 2', 'C: 3', 'D: 4')],
    ['has headers above the size limit', post('Content-Length: 0', `A: ${'x'.repeat(1_000)}`)],
  ])('%s', (_what, text) => {
    expect(parse(text)).toBeUndefined();
  });
});
