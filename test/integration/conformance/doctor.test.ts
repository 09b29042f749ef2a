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
    const ended = await runDragoman(['doctor', url, '--timeout', '5', ...flags], { env }).ended;
    expect(ended.stderr).toBe('');
    expect(ended.stdout.trim().split('\n').length).toBeLessThanOrEqual(10);
    return ended;
  }

  it('accepts a certificate of a trusted authority', async () => {
    const port = await secure(vouching.server);
    const { stdout } = await doctor(`https://localhost:${port}`);
    expect(stdout).toMatch(/^ok +TLS +TLSv1\.3, the certificate is valid until \d{4}-\d\d-\d\d$/m);
    expect(stdout).toMatch(/^trouble +card +HTTP 404/m);
    expect((await doctor(`https://127.0.0.1:${port}`)).stdout).toMatch(/^ok +TLS/m);
  });

  it.each([
    [
      'has expired',
      () => vouching.serverFor('DNS:localhost', 0),
      /^trouble +TLS +the certificate expired on \d{4}-\d\d-\d\d$/m,
      'Renew it',
    ],
    [
      'is for another host',
      () => vouching.serverFor('DNS:other.example,DNS:third.example'),
      /^trouble +TLS +the certificate is for other\.example, third\.example, not for localhost$/m,
      'Get one for this host',
    ],
    [
      'is signed by itself',
      () => createAuthority('strangers').self,
      /^trouble +TLS +the certificate is signed by itself/m,
      'NODE_EXTRA_CA_CERTS',
    ],
    [
      'is signed by an unknown authority',
      () => createAuthority('strangers').server,
      /^trouble +TLS +the certificate comes without those that lead to a known authority$/m,
      'Serve the whole chain',
    ],
  ])('reports a certificate that %s', async (_what, identity, cause, fix) => {
    const port = await secure(identity());
    const { stdout, code } = await doctor(`https://localhost:${port}`);
    expect(stdout).toMatch(cause);
    expect(stdout).toContain(fix);
    expect(code).toBe(1);
    const lenient = await doctor(`https://localhost:${port}`, '--insecure');
    expect(lenient.stdout).toMatch(/^- +TLS .*it is taken all the same$/m);
    expect(lenient.stdout).toMatch(/^trouble +card/m);
  });

  it('reports a server that supports only outdated TLS versions', async () => {
    const port = await secure({
      ...vouching.server,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    });
    const { stdout, code } = await doctor(`https://localhost:${port}`);
    expect(stdout).toMatch(/^trouble +TLS +it speaks only TLS 1\.1 or older/m);
    expect(stdout).toContain('Turn on TLS 1.2 and 1.3');
    expect(code).toBe(1);
  });

  it('reports a server without TLS and a closed port', async () => {
    const port = await listening(createPlainServer((_request, response) => response.end()));
    const plain = await doctor(`https://localhost:${port}`);
    expect(plain.stdout).toMatch(/^trouble +TLS .* speaks no TLS$/m);
    expect(plain.stdout).toContain('Write http://');
    const gone = await doctor(`https://localhost:${await findFreePort()}`);
    expect(gone.stdout).toMatch(/^trouble +TLS +nobody listens at port \d+$/m);
  });

  it('reports a server that accepts the connection but does not respond', async () => {
    const { createServer: createSilent } = await import('node:net');
    const port = await listening(createSilent(() => undefined));
    const { stdout } = await doctor(`https://localhost:${port}`, '--timeout', '0.5');
    expect(stdout).toMatch(/^trouble +TLS +no answer from port \d+ in 500 ms$/m);
  });
});

describe('dragoman doctor', () => {
  it.each(['http://no-such-host.invalid', 'https://no-such-host.invalid'])(
    'reports a DNS failure for %s and stops',
    async (url) => {
      const { stdout, code } = await runDragoman(['doctor', url]).ended;
      expect(stdout).toMatch(/^trouble +DNS +nobody (?:knows|answers what) no-such-host\.invalid/m);
      expect(stdout).toMatch(/^ +to do +Look at the/m);
      expect(stdout.trim().split('\n')).toHaveLength(3);
      expect(code).toBe(1);
    },
  );
});
