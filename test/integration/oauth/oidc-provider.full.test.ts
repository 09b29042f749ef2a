/** Logins at an authorization server of another project, oidc-provider, on loopback. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findLoginGrant, type LoginFlow } from '../../../src/client/oauth/login-grant.ts';
import { logIn } from '../../../src/client/oauth/log-in.ts';
import { type OAuthToken, renewToken } from '../../../src/client/oauth/oauth-token.ts';
import { systemClock } from '../../../src/primitives/clock.ts';
import type { AgentCard } from '../../../src/protocol/card.ts';
import { FormBrowser } from '../../support/oauth/form-browser.ts';

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';
const secret = 'a secret with 32 characters: 100%+';

describe('oidc-provider', () => {
  let issuer: string;
  let close: () => Promise<unknown>;

  beforeAll(async () => {
    const server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}/tenant-a`;
    const client = {
      application_type: 'native',
      grant_types: ['authorization_code', 'refresh_token', deviceGrant],
      redirect_uris: ['http://127.0.0.1/callback'],
    };
    const provider = new Provider(issuer, {
      clients: [
        { ...client, client_id: 'tool', token_endpoint_auth_method: 'none' },
        { ...client, client_id: 'server-app', client_secret: secret },
      ],
      features: { deviceFlow: { enabled: true }, devInteractions: { enabled: true } },
      cookies: { keys: ['test'] },
      issueRefreshToken: async () => true,
      findAccount: async (_context: unknown, accountId: string) => ({
        accountId,
        claims: async () => ({ sub: accountId }),
      }),
      // Shorter than the margin of a renewal.
      ttl: { AccessToken: 20 },
    });
    const handle = provider.callback();
    server.on('request', (request, response) => {
      // The provider is mounted below a path, as a server with several tenants does it.
      const mounted = Object.assign(request, { originalUrl: request.url });
      mounted.url = (request.url ?? '').replace(/^\/tenant-a/, '') || '/';
      handle(mounted, response);
    });
    close = async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    };
  });
  afterAll(() => close());

  async function login(flow: LoginFlow, clientId: string, clientSecret?: string): Promise<OAuthToken> {
    const card: AgentCard = {
      name: 'Agent',
      description: '',
      version: '1',
      interfaces: [],
      capabilities: {},
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
      securitySchemes: {
        login: { type: 'openIdConnect', openIdConnectUrl: `${issuer}/.well-known/openid-configuration` },
      },
    };
    const grant = await findLoginGrant(card, { flow });
    expect(grant.issuer).toBe(issuer);
    let browsing: Promise<string> | undefined;
    const token = await logIn(grant, {
      clientId,
      clientSecret,
      // Polls of the device flow follow each other at once.
      clock: { ...systemClock, after: (_millis, run) => systemClock.after(50, run) },
      prompt: ({ url }) => {
        browsing = new FormBrowser({ login: 'alice', password: 'any' }).open(url);
        browsing.catch(() => {});
      },
    });
    await browsing;
    return token;
  }

  const subjectOf = async ({ accessToken }: Pick<OAuthToken, 'accessToken'>): Promise<unknown> =>
    (await fetch(`${issuer}/me`, { headers: { authorization: `Bearer ${accessToken}` } })).json();

  it.each([
    ['authorization-code', 'tool', undefined],
    ['authorization-code', 'server-app', secret],
    ['device-code', 'tool', undefined],
    ['device-code', 'server-app', secret],
  ] as const)(
    'issues and renews a token in the %s flow for the client %s',
    async (flow, id, clientSecret) => {
      const token = await login(flow, id, clientSecret);
      expect(await subjectOf(token)).toEqual({ sub: 'alice' });
      const renewed = await renewToken(token);
      expect(renewed?.accessToken).not.toBe(token.accessToken);
      expect(await subjectOf(renewed as OAuthToken)).toEqual({ sub: 'alice' });
    },
  );

  it('refuses a client with another secret, which is reported in words', async () => {
    await expect(login('device-code', 'server-app', 'wrong')).rejects.toMatchObject({
      message: expect.stringContaining('invalid_client'),
      hint: 'Check the client ID and the client secret.',
    });
  });
});
