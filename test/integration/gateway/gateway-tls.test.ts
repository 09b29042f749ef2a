/** TLS of a gateway: HTTP and gRPC on one port, client certificates as principals, and renewed certificates. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { beforeAll, describe, expect, it } from 'vitest';
import { connect, type ConnectOptions } from '../../../src/client/index.ts';
import { createEndpointCache } from '../../../src/client/discovery/endpoint-cache.ts';
import { readGatewayConfig } from '../../../src/gateway/config/read-gateway-config.ts';
import { runGateway } from '../../../src/gateway/run-gateway.ts';
import { ManualClock } from '../../support/clocks/manual-clock.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { createWaitingAgent } from '../../support/gateway/policy-gateway.ts';
import {
  type Authority,
  createAuthority,
  hasOpenssl,
  type Identity,
} from '../../support/http/certificates.ts';

const open = closeAfterEach();

describe.skipIf(!hasOpenssl())('TLS of a gateway', () => {
  let authority: Authority;
  let renewed: Identity;
  beforeAll(() => {
    authority = createAuthority('Gateway test');
    renewed = authority.serverFor('DNS:localhost,IP:127.0.0.1');
  });

  async function startGateway(more = '', tls = 'tls: { cert_file: cert.pem, key_file: key.pem }') {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-tls-'));
    open.push({ close: () => rm(folder, { recursive: true }) });
    const write = ({ cert, key }: Partial<Identity>) => {
      if (cert !== undefined) writeFileSync(join(folder, 'cert.pem'), cert);
      if (key !== undefined) writeFileSync(join(folder, 'key.pem'), key);
    };
    write(authority.server);
    writeFileSync(join(folder, 'ca.pem'), authority.ca);
    const clock = new ManualClock();
    const logs: string[] = [];
    const settings = readGatewayConfig(
      `listen: 0\nagents: { weather: { module: weather } }\n${tls}\n${more}`,
      join(folder, 'gateway.yaml'),
      {},
    );
    const running = await runGateway(settings, {
      clock,
      log: ({ message }) => logs.push(message),
      loadModule: async () => createWaitingAgent('weather'),
    });
    open.push({ close: () => running.stop(0) });
    return { running, settings, clock, logs, write, url: running.url ?? '' };
  }

  function connectTo(url: string, client?: Identity, options: ConnectOptions = {}) {
    const agent = connect(`${url}/agents/weather`, {
      endpointCache: createEndpointCache(),
      tls: { ca: authority.ca, ...client },
      ...options,
    });
    open.push({ close: () => agent.close() });
    return agent;
  }

  /** Returns the protocol that the server chooses, and the serial number of its certificate. */
  const handshake = (url: string, ALPNProtocols: string[]): Promise<{ protocol: unknown; serial: string }> =>
    new Promise((resolve, reject) => {
      const socket = connectTls({
        port: Number(new URL(url).port),
        host: '127.0.0.1',
        ca: authority.ca,
        ALPNProtocols,
      });
      socket.once('error', reject);
      socket.once('secureConnect', () => {
        resolve({ protocol: socket.alpnProtocol, serial: socket.getPeerCertificate().serialNumber });
        socket.destroy();
      });
    });

  it('serves HTTP/1.1 and gRPC on one port, chosen by ALPN', async () => {
    const { url } = await startGateway();
    expect(url).toMatch(/^https:/);
    for (const transport of ['JSONRPC', 'HTTP+JSON', 'GRPC'] as const)
      expect(await connectTo(url, undefined, { transports: [transport] }).send('hi')).toMatchObject({
        status: { state: 'completed' },
      });
    expect((await handshake(url, ['h2'])).protocol).toBe('h2');
    expect((await handshake(url, ['h2', 'http/1.1'])).protocol).toBe('http/1.1');
  });

  it('identifies clients by the subject of their certificate, for the policy too', async () => {
    const { url } = await startGateway(
      'policy: { rules: [{ allow: { principals: ["O=Test, CN=alice"] } }, { allow: anyone, operations: [card] }] }',
      'tls: { cert_file: cert.pem, key_file: key.pem, client_ca_file: ca.pem }',
    );
    const [alice, forged] = [authority.client('alice'), authority.client('x, O=Test, CN=alice')];
    for (const transport of ['JSONRPC', 'GRPC'] as const) {
      const options = { transports: [transport] } as const;
      expect(await connectTo(url, alice, options).send('hi')).toMatchObject({
        status: { state: 'completed' },
      });
      await expect(connectTo(url, forged, options).send('hi')).rejects.toMatchObject({
        reason: 'PERMISSION_DENIED',
      });
      await expect(connectTo(url, undefined, options).send('hi')).rejects.toMatchObject({
        reason: 'UNAUTHENTICATED',
      });
    }
    const foreign = createAuthority('Other').client('alice');
    await expect(connectTo(url, foreign).send('hi')).rejects.toMatchObject({ reason: 'UNAUTHENTICATED' });
  });

  it('uses renewed files without a restart, and keeps its certificate while they are incomplete', async () => {
    const { url, clock, logs, write, running, settings } = await startGateway();
    const before = await handshake(url, ['http/1.1']);
    write({ cert: renewed.cert });
    clock.advance(60_000);
    expect(logs).toContainEqual(expect.stringContaining('keeps its certificate'));
    await expect(running.reload(settings)).rejects.toMatchObject({ message: expect.stringContaining('tls') });
    expect(await handshake(url, ['http/1.1'])).toEqual(before);
    write({ key: renewed.key });
    clock.advance(60_000);
    const after = await handshake(url, ['http/1.1']);
    expect(after.serial).not.toBe(before.serial);
    write(authority.server);
    await running.reload(settings);
    expect(await handshake(url, ['h2'])).toEqual({ protocol: 'h2', serial: before.serial });
  });
});
