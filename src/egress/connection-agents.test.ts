import { once } from 'node:events';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type Agent, request as plainRequest } from 'node:http';
import { createServer as createSecureServer, request as secureRequest } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A2AError } from '../protocol/errors.ts';
import { type ConnectionChecks, httpConnectionAgent, httpsConnectionAgent } from './connection-agents.ts';
import type { EgressOptions } from './egress-options.ts';
import { egressPolicy } from './egress-policy.ts';
import { egressRequest } from './egress-request.ts';

describe('connection agents', () => {
  let server: Server;
  let port: number;
  let agent: Agent | undefined;
  /** Bytes received on each closed connection. */
  let received: Promise<string>;

  beforeEach(async () => {
    server = createServer();
    received = once(server, 'connection').then(async ([socket]) => {
      let text = '';
      for await (const chunk of socket) text += chunk;
      return text;
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  });
  afterEach(async () => {
    agent?.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  const refuse = () => {
    throw new A2AError('PERMISSION_DENIED');
  };
  /** Checks with a lookup that returns another address, so that only the check of the open connection remains. */
  const checks: ConnectionChecks = {
    connectTimeout: 5000,
    lookupFor: () => (_host, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
    checkAddress: refuse,
  };

  it.each([
    ['http', httpConnectionAgent, plainRequest],
    ['https', httpsConnectionAgent, secureRequest],
  ] as const)('closes a %s connection to a denied address before data is sent', async (_name, make, ask) => {
    agent = make(checks);
    const headers = { authorization: 'secret' };
    const outgoing = ask({ agent, host: 'example.com', port, method: 'POST', headers });
    outgoing.end('secret');
    const [error] = await once(outgoing, 'error');
    expect(error).toMatchObject({ reason: 'PERMISSION_DENIED' });
    expect(await received).toBe('');
  });

  it('checks IP addresses before connecting', async () => {
    const attempts: string[] = [];
    agent = httpConnectionAgent({ ...checks, onConnect: (address) => attempts.push(address) });
    const outgoing = plainRequest({ agent, host: '127.0.0.1', port });
    outgoing.end();
    const [error] = await once(outgoing, 'error');
    expect(error).toMatchObject({ reason: 'PERMISSION_DENIED' });
    expect(attempts).toEqual([]);
  });

  it('rejects with TIMEOUT when the TLS handshake hangs', async () => {
    const policy = egressPolicy({ allowLoopback: true, connectTimeout: 50 });
    const response = egressRequest(policy, { url: `https://127.0.0.1:${port}/` });
    await expect(response).rejects.toMatchObject({ reason: 'TIMEOUT' });
    expect((await received).length).toBeGreaterThan(0);
  });
});

/** Creates a certificate for `agent.example.com` if openssl is installed. */
function certificate(): { key: Buffer; cert: Buffer } | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'egress-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const how = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test'.split(
    ' ',
  );
  try {
    const names = 'subjectAltName=DNS:agent.example.com,IP:127.0.0.1';
    execFileSync('openssl', ['req', ...how, '-addext', names, '-keyout', key, '-out', cert], {
      stdio: 'ignore',
    });
    return { key: readFileSync(key), cert: readFileSync(cert) };
  } catch {
    console.log('skipped: no openssl to make a certificate with');
    return undefined;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const identity = certificate();

describe.skipIf(!identity)('https connection agent', () => {
  const names: unknown[] = [];
  let redirect: string | undefined;
  const server = createSecureServer({ ...identity }, (request, response) => {
    if (redirect !== undefined) response.writeHead(302, { location: redirect });
    response.end(request.headers.host);
  });
  afterEach(() => {
    redirect = undefined;
  });
  server.on('secureConnection', (socket) => names.push(socket.servername));
  const listening = once(server.listen(0, '127.0.0.1'), 'listening');
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  async function ask(host: string, options: EgressOptions = {}) {
    await listening;
    const { port } = server.address() as AddressInfo;
    const resolve = () => Promise.resolve(['127.0.0.1']);
    const policy = egressPolicy({ allowLoopback: true, tls: { ca: identity?.cert }, resolve, ...options });
    try {
      const url = `https://${host}:${port}/`;
      return [await egressRequest(policy, { url }), await egressRequest(policy, { url })];
    } finally {
      policy.close();
    }
  }

  it('verifies the host name when connecting to the checked address', async () => {
    names.length = 0;
    const answers = await ask('agent.example.com.');
    expect(answers.map(({ text }) => text.split(':')[0])).toEqual(['agent.example.com', 'agent.example.com']);
    expect(names).toEqual(['agent.example.com']);
  });

  it('verifies the IP address of URLs without a name', async () => {
    expect(await ask('127.0.0.1')).toMatchObject([{ status: 200 }, { status: 200 }]);
  });

  it('does not fall back to plain text', async () => {
    redirect = 'http://agent.example.com/';
    await expect(ask('agent.example.com')).rejects.toThrow('redirect from https to http');
  });

  it('rejects certificates for another name', async () => {
    const cause = { code: 'ERR_TLS_CERT_ALTNAME_INVALID' };
    await expect(ask('other.example.com')).rejects.toMatchObject({ reason: 'UNAVAILABLE', cause });
  });

  it('rejects self-signed certificates', async () => {
    await expect(ask('agent.example.com', { tls: {} })).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
  });
});
