import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { egressPolicy } from './egress-policy.ts';
import { egressRequest } from './egress-request.ts';

/** Malicious URLs, with `#` for the port of the test listener. No connection may be opened. */
const maliciousUrls = `
  http://127.0.0.1:#/                       http://127.0.0.2:#/
  http://127.255.255.254:#/                 http://127.1:#/
  http://127.0.1:#/                         http://127.0.0.1.:#/
  http://2130706433:#/                      http://0x7f000001:#/
  http://0x7f.1:#/                          http://0x7f.0x0.0x0.0x1:#/
  http://017700000001:#/                    http://0177.0.0.1:#/
  http://0177.0x0.0.1:#/                    http://127.0.0.0x1:#/
  http://0.0.0.0:#/                         http://0:#/
  http://0x0:#/                             http://0.1.2.3:#/
  http://10.0.0.1:#/                        http://10.255.255.255:#/
  http://172.16.0.1:#/                      http://172.31.255.255:#/
  http://192.168.1.1:#/                     http://169.254.169.254:#/latest/meta-data/
  http://0xa9fea9fe:#/                      http://2852039166:#/
  http://100.64.0.1:#/                      http://100.100.100.200:#/
  http://168.63.129.16:#/                   http://192.0.0.192:#/
  http://192.0.2.1:#/                       http://198.18.0.1:#/
  http://198.51.100.1:#/                    http://203.0.113.1:#/
  http://192.88.99.1:#/                     http://224.0.0.1:#/
  http://240.0.0.1:#/                       http://255.255.255.255:#/
  http://[::1]:#/                           http://[0:0:0:0:0:0:0:1]:#/
  http://[::]:#/                            http://[::ffff:127.0.0.1]:#/
  http://[::ffff:7f00:1]:#/                 http://[0:0:0:0:0:ffff:127.0.0.1]:#/
  http://[::FFFF:10.0.0.1]:#/               http://[::127.0.0.1]:#/
  http://[::ffff:0:127.0.0.1]:#/            http://[64:ff9b::127.0.0.1]:#/
  http://[64:ff9b::a9fe:a9fe]:#/            http://[64:ff9b:1::127.0.0.1]:#/
  http://[2002:7f00:1::]:#/                 http://[2002:a00:1::1]:#/
  http://[2001:0:808:808::80ff:fffe]:#/     http://[2001:db8::1]:#/
  http://[fc00::1]:#/                       http://[fd00:ec2::254]:#/
  http://[fe80::1]:#/                       http://[fe80::1%25eth0]:#/
  http://[fe80::1%eth0]:#/                  http://[::1%25lo]:#/
  http://[::1%lo]:#/                        http://[fec0::1]:#/
  http://[ff02::1]:#/                       http://[100::1]:#/
  http://[3ffe::1]:#/                       http://[3fff::1]:#/
  http://[2606:4700::5efe:127.0.0.1]:#/     http://[::1]:#/?x=https://example.com/
  http://localhost:#/                       http://LOCALHOST:#/
  http://localhost.:#/                      http://LocalHost.:#/
  http://localhost..:#/                     http://a.localhost:#/
  http://a.localhost.:#/                    http://localhost.localdomain:#/
  http://printer.local:#/                   http://metadata.google.internal:#/
  http://router.home.arpa:#/                http://1.0.0.127.in-addr.arpa:#/
  http://intranet:#/                        http://metadata:#/
  http://db.corp:#/                         http://nas.lan:#/
  http://%6c%6f%63%61%6c%68%6f%73%74:#/     http://%31%32%37.0.0.1:#/
  http://１２７.０.０.１:#/                   http://127。0。0。1:#/
  http://①②⑦.0.0.1:#/                       http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:#/
  http://ｌｏｃａｌｈｏｓｔ:#/                 http://loc\u00adalhost:#/
  http://127.0.0.1:#@localhost:#/           http://127.0.0.1:80@evil.example.com/
  http://example.com@127.0.0.1:#/           http://example.com:80@127.0.0.1:#/
  http://user@example.com:#/                http://user:pass@8.8.8.8:#/
  http://:pass@example.com:#/               http://example.com%40127.0.0.1:#/
  http:\\\\127.0.0.1:#\\
  http:127.0.0.1:#/                         http:/127.0.0.1:#/
  http:///127.0.0.1:#/                      http:\\/\\/localhost:#/
  HTTP://127.0.0.1:#/                       https://127.0.0.1:#/
  https://localhost:#/                      http://..:#/
  http://.example.com:#/                    http://a..example.com:#/
  http://127.0.0.1%00.example.com:#/
  file:///etc/passwd                        file://127.0.0.1/etc/passwd
  gopher://127.0.0.1:#/_GET                 ftp://127.0.0.1:#/
  data:text/plain,hello                     javascript:alert(1)
  ws://127.0.0.1:#/                         blob:http://127.0.0.1:#/x
  dict://127.0.0.1:#/                       unix:/var/run/docker.sock
  about:blank                               //127.0.0.1:#/
  127.0.0.1:#                               localhost:#
  http://                                   http://:#/
`
  .trim()
  .split(/\s{2,}|\n/)
  .map((form) => form.trim())
  .filter((form) => form !== '');

describe('SSRF protection', () => {
  const servers: Server[] = [];
  let port = 0;
  let connections = 0;

  const listen = (host: string, port: number): Promise<Server | undefined> =>
    new Promise((resolve) => {
      const server = createServer((socket) => {
        connections++;
        socket.resume();
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
      });
      // Not all machines have IPv6.
      server.once('error', () => resolve(undefined));
      server.listen(port, host, () => resolve(server));
    });

  beforeAll(async () => {
    const first = await listen('0.0.0.0', 0);
    const address = first?.address();
    if (!first || !address || typeof address === 'string') throw new Error('cannot listen');
    port = address.port;
    const second = await listen('::1', port);
    servers.push(...[first, second].filter((server) => server !== undefined));
  });
  afterAll(() => Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve)))));

  // Names that reach the resolver resolve to the listener.
  const resolve = () => Promise.resolve(['127.0.0.1']);
  const at = (form: string): string => form.replaceAll('#', String(port));

  it('covers many notations', () => {
    expect(new Set(maliciousUrls).size).toBeGreaterThan(110);
  });

  it.each(maliciousUrls)('denies %s without a connection', async (form) => {
    const attempts: string[] = [];
    const policy = egressPolicy({ resolve, onConnect: (address) => attempts.push(address) });
    const before = connections;
    await expect(egressRequest(policy, { url: at(form) })).rejects.toMatchObject({
      reason: 'PERMISSION_DENIED',
    });
    expect(attempts).toEqual([]);
    expect(connections).toBe(before);
  });

  it.each(maliciousUrls)('denies %s as a webhook', (form) => {
    const policy = egressPolicy({ schemes: ['http', 'https'], ports: [[1, 65_535]] });
    const check = () => policy.check(at(form), 'webhook');
    expect(check).toThrow('denied');
  });

  it('parses a URL once, so that all code agrees on its host', () => {
    const checked = egressPolicy().check('http://example.com\\\\@127.0.0.1/');
    expect([checked.hostname, checked.pathname]).toEqual(['example.com', '//@127.0.0.1/']);
  });

  // Proves that the listener would have counted connections.
  it.each([
    'http://127.0.0.1:#/',
    'http://0x7f.1:#/',
    'http://2130706433:#/',
    'http://localhost.:#/',
    'http:127.1:#',
  ])('connects to %s with allowLoopback', async (form) => {
    const attempts: string[] = [];
    const onConnect = (address: string) => attempts.push(address);
    const policy = egressPolicy({ allowLoopback: true, resolve, onConnect });
    const before = connections;
    expect((await egressRequest(policy, { url: at(form) })).status).toBe(200);
    expect(attempts).toEqual(['127.0.0.1']);
    expect(connections).toBe(before + 1);
    policy.close();
  });
});
