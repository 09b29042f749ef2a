import { request } from 'node:https';
import { connect, type SecureVersion } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineAgent, type LocalAgent } from '../../../src/engine/index.ts';
import type { Principal } from '../../../src/protocol/agent.ts';
import { bearerAuth } from '../../../src/server/auth/schemes/bearer.ts';
import { mutualTlsAuth } from '../../../src/server/auth/schemes/mutual-tls.ts';
import { type RunningServer, serve } from '../../../src/server/node/serve.ts';
import {
  type Authority,
  createAuthority,
  hasOpenssl,
  type Identity,
} from '../../support/http/certificates.ts';

const canMake = hasOpenssl();
if (!canMake) console.log('Skipped: there is no openssl to make certificates with.');

describe.runIf(canMake)('client certificates', () => {
  let ours: Authority;
  let theirs: Authority;
  let agent: LocalAgent;
  let server: RunningServer;
  const seen: (Principal | undefined)[] = [];

  beforeAll(async () => {
    ours = createAuthority('Ours');
    theirs = createAuthority('Theirs');
    agent = defineAgent({
      name: 'Watch',
      description: 'Notes who calls',
      process: ({ call }) => {
        seen.push(call.principal);
        return 'noted';
      },
    });
    server = await serve(agent, {
      tls: { ...ours.server, ca: ours.ca, requestCert: true },
      auth: { authenticators: [mutualTlsAuth(), bearerAuth({ tokens: { t: 'tom' } })] },
    });
  });
  afterAll(async () => {
    await server.stop(100);
    await agent.close();
  });

  const ask = (
    path: string,
    shown: Partial<Identity> = {},
    headers = {},
    on = server,
  ): Promise<{ status: number; text: string; challenge: unknown }> =>
    new Promise((resolve, reject) => {
      const method = path.startsWith('/.') ? 'GET' : 'POST';
      const sent = request(
        `${on.url}${path}`,
        {
          ca: ours.ca,
          ...shown,
          method,
          agent: false,
          headers: { 'a2a-version': '1.0', 'content-type': 'application/json', ...headers },
        },
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              text,
              challenge: response.headers['www-authenticate'],
            }),
          );
        },
      );
      sent.on('error', reject);
      const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hi' }] };
      sent.end(method === 'GET' ? undefined : JSON.stringify({ message }));
    });

  it('identify the client', async () => {
    expect(server.url).toMatch(/^https:/);
    const ann = ours.client('ann');
    expect((await ask('/message:send', ann)).status).toBe(200);
    expect(seen.at(-1)).toEqual({ id: 'O=Test\nCN=ann', issuer: 'CN=Ours' });
  });

  it('are not required for the card, which declares mutualTLS', async () => {
    const { status, text } = await ask('/.well-known/agent-card.json');
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({
      securitySchemes: { mutualTLS: { mtlsSecurityScheme: {} } },
      supportedInterfaces: [{ url: server.url }, {}, {}, {}, {}, {}, {}],
    });
  });

  it('are accepted only from a trusted CA', async () => {
    const before = seen.length;
    for (const shown of [{}, theirs.client('ann')]) {
      const { status, challenge } = await ask('/message:send', shown);
      expect(status).toBe(401);
      expect(challenge).toBe('MutualTLS realm="a2a", Bearer realm="a2a"');
    }
    expect(seen).toHaveLength(before);
    expect((await ask('/message:send', theirs.client('ann'), { authorization: 'Bearer t' })).status).toBe(
      200,
    );
    expect(seen.at(-1)).toEqual({ id: 'tom' });
  });

  it('may be required for all connections, with a custom principal', async () => {
    const strict = await serve(agent, {
      tls: { ...ours.server, ca: ours.ca, requestCert: true, rejectUnauthorized: true },
      auth: { authenticators: [mutualTlsAuth({ principal: ({ fingerprint256 }) => fingerprint256 })] },
    });
    try {
      await expect(ask('/.well-known/agent-card.json', {}, {}, strict)).rejects.toThrow();
      expect((await ask('/message:send', ours.client('ann'), {}, strict)).status).toBe(200);
      expect(seen.at(-1)?.id).toMatch(/^([0-9A-F]{2}:){31}/);
    } finally {
      await strict.stop(100);
    }
  });

  it.each<[SecureVersion, boolean]>([
    ['TLSv1.1', false],
    ['TLSv1.2', true],
    ['TLSv1.3', true],
  ])('are accepted over %s: %s', async (version, isGood) => {
    const socket = connect({
      port: server.port,
      host: '127.0.0.1',
      ca: ours.ca,
      minVersion: version,
      maxVersion: version,
      ciphers: 'DEFAULT:@SECLEVEL=0',
    });
    const outcome = await new Promise((resolve) => {
      socket.on('secureConnect', () => resolve(true)).on('error', () => resolve(false));
    });
    socket.destroy();
    expect(outcome).toBe(isGood);
  });
});
