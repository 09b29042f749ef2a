import { describe, expect, it } from 'vitest';
import { parseRequestHead } from './parse-head.ts';

const limits = { headerBytes: 1_000, headers: 5, bodyBytes: 100 };
const read = (text: string) => parseRequestHead(Buffer.from(text, 'latin1'), limits);

describe('a plain head', () => {
  it('is read with its headers by lower-case name, and says where its body is', () => {
    const head = read('POST /a?b=c HTTP/1.1\r\nHost: x\r\nContent-Length:  5 \r\nX-Empty:\r\n\r\nhello');
    expect(head).toEqual({
      method: 'POST',
      target: '/a?b=c',
      headers: { host: 'x', 'content-length': '5', 'x-empty': '' },
      bodyAt: 64,
      end: 69,
    });
  });

  it('may be of a request that is not all there yet', () => {
    const text = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n';
    expect(read(text)?.end).toBe(text.length + 5);
  });

  it.each([
    'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: x\r\nConnection: Keep-Alive\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n',
    'DELETE /a HTTP/1.1\r\nHost: x\r\n\r\n',
  ])('%j has no body', (text) => {
    expect(read(text)?.end).toBe(text.length);
  });
});

describe('a head that is not plain', () => {
  const post = (...lines: string[]) => ['POST / HTTP/1.1', 'Host: x', ...lines, '', ''].join('\r\n');

  it.each([
    ['has no end', 'GET / HTTP/1.1\r\nHost: x\r\n'],
    ['has no headers', 'GET / HTTP/1.1\r\n\r\n'],
    ['has no host', 'GET / HTTP/1.1\r\nA: b\r\n\r\n'],
    ['is of another version', 'GET / HTTP/1.0\r\nHost: x\r\n\r\n'],
    ['asks for something else', 'HEAD / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['asks in small letters', 'get / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['names another host', 'GET http://y/ HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['has two blanks', 'GET  / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['has a control character in its path', 'GET /\t HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['begins with an empty line', '\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['ends a line with one character', 'GET / HTTP/1.1\nHost: x\r\n\r\n'],
    ['ends a header with one character', 'GET / HTTP/1.1\r\nHost: x\nA: b\r\n\r\n'],
    ['has a return within a header', 'GET / HTTP/1.1\r\nHost: x\rA: b\r\n\r\n'],
    ['has a zero', 'GET / HTTP/1.1\r\nHost: x\0\r\n\r\n'],
    ['has a character beyond ASCII', 'GET / HTTP/1.1\r\nHost: \xe9\r\n\r\n'],
    ['folds a line', 'GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n'],
    ['has a blank before a colon', 'GET / HTTP/1.1\r\nHost : x\r\n\r\n'],
    ['has a header without a name', 'GET / HTTP/1.1\r\nHost: x\r\n: b\r\n\r\n'],
    ['has a header without a colon', 'GET / HTTP/1.1\r\nHost: x\r\nA\r\n\r\n'],
    ['has an odd name', 'GET / HTTP/1.1\r\nHost: x\r\n__proto__: b\r\n\r\n'],
    ['has a name that every object has', 'GET / HTTP/1.1\r\nHost: x\r\nconstructor: b\r\n\r\n'],
    ['has a header twice', 'GET / HTTP/1.1\r\nHost: x\r\nHOST: y\r\n\r\n'],
    ['has a body where none belongs', 'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx'],
    ['does not say how long it is', post()],
    ['says so twice', post('Content-Length: 1', 'content-length: 1')],
    ['says so with a sign', post('Content-Length: +1')],
    ['says so in another way', post('Content-Length: 0x1')],
    ['says nothing', post('Content-Length: ')],
    ['comes in chunks', post('Content-Length: 1', 'Transfer-Encoding: chunked')],
    ['wants to be told to go on', post('Content-Length: 1', 'Expect: 100-continue')],
    ['wants to change over', post('Content-Length: 0', 'Upgrade: websocket')],
    ['wants to be the last', post('Content-Length: 0', 'Connection: close')],
    ['wants so of a proxy, as Node reads it too', post('Content-Length: 0', 'Proxy-Connection: close')],
    ['wants more than one thing', post('Content-Length: 0', 'Connection: keep-alive, x')],
    ['is longer than may be', post('Content-Length: 101')],
    ['has too many headers', post('Content-Length: 0', 'A: 1', 'B: 2', 'C: 3', 'D: 4')],
    ['has too large headers', post('Content-Length: 0', `A: ${'x'.repeat(1_000)}`)],
  ])('%s', (_what, text) => {
    expect(read(text)).toBeUndefined();
  });
});
