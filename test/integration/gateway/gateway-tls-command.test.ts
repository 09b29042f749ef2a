/** The flags of `dragoman gateway` for TLS. */
import { connect as connectTls } from 'node:tls';
import { beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/index.ts';
import { createEndpointCache } from '../../../src/client/discovery/endpoint-cache.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { createTlsGatewayFolder } from '../../support/gateway/tls-files.ts';
import { type Authority, createAuthority, hasOpenssl } from '../../support/http/certificates.ts';

const open = closeAfterEach();

describe.skipIf(!hasOpenssl())('dragoman gateway with TLS flags', () => {
  let authority: Authority;
  beforeAll(() => {
    authority = createAuthority('Gateway flags');
  });

  it('serves HTTPS and HTTP/2, and knows clients by their certificates', async () => {
    const { run } = createTlsGatewayFolder(authority, open);
    const gateway = run('--tls-cert', 'cert.pem', '--tls-key', 'key.pem', '--tls-client-ca', 'ca.pem');
    const [, url = ''] = await gateway.prints(/listening on (https:\S+)/);
    const alice = authority.client('alice');
    for (const transport of ['JSONRPC', 'GRPC'] as const) {
      const agent = connect(`${url}/agents/weather`, {
        endpointCache: createEndpointCache(),
        tls: { ca: authority.ca, ...alice },
        transports: [transport],
      });
      open.push({ close: () => agent.close() });
      expect(await agent.send('hi')).toMatchObject({
        artifacts: [{ parts: [{ text: expect.stringContaining('CN=alice') }] }],
      });
    }
    const stranger = connect(`${url}/agents/weather`, { tls: { ca: authority.ca } });
    open.push({ close: () => stranger.close() });
    await expect(stranger.send('hi')).rejects.toMatchObject({ reason: 'UNAUTHENTICATED' });
    const protocol = await new Promise((resolve, reject) => {
      const { hostname: host, port } = new URL(url);
      const socket = connectTls({ host, port: Number(port), ca: authority.ca, ALPNProtocols: ['h2'] }, () => {
        resolve(socket.alpnProtocol);
        socket.destroy();
      });
      socket.once('error', reject);
    });
    expect(protocol).toBe('h2');
  });
});
