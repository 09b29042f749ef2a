import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createPlainServer } from 'node:http';
import { createServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Authority, createAuthority, hasOpenssl } from '../../support/http/certificates.ts';
import { runDragoman, type CommandResult } from '../../support/cli/run-command.ts';
import { findFreePort } from '../../support/http/free-port.ts';

const can = hasOpenssl();
if (!can) console.log('skipped: openssl is not installed');

describe.runIf(can)('dragoman doctor over TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-doctor-'));
  let vouching: Authority;
  let running: Server | undefined;

  beforeAll(() => {
    vouching = createAuthority('doctors');
    writeFileSync(join(folder, 'ca.pem'), vouching.ca);
  });

  afterEach(() => {
    running?.close();
    running = undefined;
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function listening(server: Server): Promise<number> {
    running = server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }

  const secure = (options: ServerOptions): Promise<number> =>
    listening(createServer(options, (_request, response) => response.writeHead(404).end()));

  async function doctor(url: string, ...flags: string[]): Promise<CommandResult> {
    const env = { NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'), NODE_NO_WARNINGS: '1' };
    const ended = await runDragoman(['doctor', url, '--timeout', '60', ...flags], { env }).ended;
    expect(ended.stderr).toBe('');
    expect(ended.stdout.trim().split('\n').length).toBeLessThanOrEqual(10);
    return ended;
  }

  it('accepts a certificate of a trusted authority', async () => {
    const port = await secure(vouching.server);
    const { stdout } = await doctor(`https://localhost:${port}`);
    expect(stdout).toMatch(/^ok +TLS +TLSv1\.3, certificate valid until \d{4}-\d\d-\d\d$/m);
    expect(stdout).toMatch(/^error +card +HTTP 404/m);
    expect((await doctor(`https://127.0.0.1:${port}`)).stdout).toMatch(/^ok +TLS/m);
  });

  it.each([
    [
      'has expired',
      () => vouching.serverFor('DNS:localhost', 0),
      /^error +TLS +the certificate expired on \d{4}-\d\d-\d\d$/m,
      'Renew it',
    ],
    [
      'is for another host',
      () => vouching.serverFor('DNS:other.example,DNS:third.example'),
      /^error +TLS +the certificate is for other\.example, third\.example, not for localhost$/m,
      'Use a certificate for this host',
    ],
    [
      'is signed by itself',
      () => createAuthority('unknown').self,
      /^error +TLS +the certificate is self-signed or signed by an unknown authority$/m,
      'NODE_EXTRA_CA_CERTS',
    ],
    [
      'is signed by an unknown authority',
      () => createAuthority('unknown').server,
      /^error +TLS +the certificate chain is incomplete$/m,
      'Serve the complete chain',
    ],
  ])('reports a certificate that %s', async (_what, identity, cause, fix) => {
    const port = await secure(identity());
    const { stdout, code } = await doctor(`https://localhost:${port}`);
    expect(stdout).toMatch(cause);
    expect(stdout).toContain(fix);
    expect(code).toBe(1);
    const lenient = await doctor(`https://localhost:${port}`, '--insecure');
    expect(lenient.stdout).toMatch(/^- +TLS .*ignored because of --insecure$/m);
    expect(lenient.stdout).toMatch(/^error +card/m);
  });

  it('reports a server that supports only outdated TLS versions', async () => {
    const port = await secure({
      ...vouching.server,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    });
    const { stdout, code } = await doctor(`https://localhost:${port}`);
    expect(stdout).toMatch(/^error +TLS +the server supports only TLS 1\.1 or older/m);
    expect(stdout).toContain('Enable TLS 1.2 and 1.3');
    expect(code).toBe(1);
  });

  it('reports a server without TLS and a closed port', async () => {
    const port = await listening(createPlainServer((_request, response) => response.end()));
    const plain = await doctor(`https://localhost:${port}`);
    expect(plain.stdout).toMatch(/^error +TLS +the server at port \d+ does not use TLS$/m);
    expect(plain.stdout).toContain('Use http://');
    const gone = await doctor(`https://localhost:${await findFreePort()}`);
    expect(gone.stdout).toMatch(/^error +TLS +connection refused at port \d+$/m);
  });

  it('reports a server that accepts the connection but does not respond', async () => {
    const { createServer: createSilent } = await import('node:net');
    const port = await listening(createSilent(() => undefined));
    const { stdout } = await doctor(`https://localhost:${port}`, '--timeout', '0.5');
    expect(stdout).toMatch(/^error +TLS +no response from port \d+ within 500 ms$/m);
  });
});

describe('dragoman doctor', () => {
  it.each(['http://no-such-host.invalid', 'https://no-such-host.invalid'])(
    'reports a DNS failure for %s and stops',
    async (url) => {
      const { stdout, code } = await runDragoman(['doctor', url]).ended;
      expect(stdout).toMatch(
        /^error +DNS +(?:unknown host|DNS server does not respond for) no-such-host\.invalid/m,
      );
      expect(stdout).toMatch(/^ +fix +Check the/m);
      expect(stdout.trim().split('\n')).toHaveLength(3);
      expect(code).toBe(1);
    },
  );
});
