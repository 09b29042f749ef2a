import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findLoginGrant, type LoginChoice, offeredFlows } from '../../../src/client/oauth/login-grant.ts';
import { logIn, type LoginOptions, type LoginPrompt } from '../../../src/client/oauth/log-in.ts';
import { LoginError } from '../../../src/client/oauth/oauth-request.ts';
import { loginCredentials, type OAuthToken, renewToken } from '../../../src/client/oauth/oauth-token.ts';
import { systemClock } from '../../../src/primitives/clock.ts';
import type { AgentCard, SecurityScheme } from '../../../src/protocol/card.ts';
import {
  type AuthorizationServer,
  confidentialClient,
  startAuthorizationServer,
} from '../../support/oauth/authorization-server.ts';

let server: AuthorizationServer;
beforeAll(async () => {
  server = await startAuthorizationServer();
});
afterAll(() => server.close());
beforeEach(() => {
  Object.assign(server.behavior, {
    decision: 'approve',
    pollAnswers: [],
    tokenLifetime: 3_600,
    issuerInRedirect: undefined,
    issuer: undefined,
  });
});

const cardWith = (scheme: SecurityScheme): AgentCard => ({
  name: 'Agent',
  description: '',
  version: '1',
  interfaces: [],
  capabilities: {},
  defaultInputModes: [],
  defaultOutputModes: [],
  skills: [],
  securitySchemes: { login: scheme },
  securityRequirements: [{ login: ['read'] }],
});
const openId = () =>
  cardWith({ type: 'openIdConnect', openIdConnectUrl: `${server.url}/.well-known/openid-configuration` });

/** Logs in. @param browse - what the user does with the prompt; by default, opens its URL */
async function login(
  choice: LoginChoice,
  options: Partial<LoginOptions> = {},
  browse: (prompt: LoginPrompt) => unknown = ({ url }) => fetch(url),
): Promise<OAuthToken> {
  const grant = await findLoginGrant(openId(), choice);
  return logIn(grant, { clientId: 'tool', prompt: (prompt) => void browse(prompt), ...options });
}

describe('authorization code with PKCE', () => {
  it('gets a token over a loopback redirect and shows a page that contains nothing of the request', async () => {
    let shown: Promise<Response> | undefined;
    const token = await login({ flow: 'authorization-code' }, {}, ({ url }) => (shown = fetch(url)));
    expect(server.accessTokens).toContain(token.accessToken);
    expect(token).toMatchObject({ clientId: 'tool', scope: 'openid read', tokenUrl: `${server.url}/token` });
    const page = await shown;
    expect(page?.headers.get('content-security-policy')).toBe("default-src 'none'");
    expect(await page?.text()).toContain('You are logged in');
  });

  it('rejects redirects with another state, path, method or host, and takes the right one once', async () => {
    const statuses: number[] = [];
    let late: Promise<unknown> | undefined;
    const token = await login({ flow: 'authorization-code' }, {}, async ({ url }) => {
      const { headers } = await fetch(url, { redirect: 'manual' });
      const target = headers.get('location') ?? '';
      const forged = [
        target.replace(/state=[^&]+/, 'state=guess'),
        target.replace(/state=[^&]+&/, ''),
        target.replace('/callback', '/'),
        target.replace('127.0.0.1', 'localhost'),
      ];
      for (const each of forged) statuses.push((await fetch(each)).status);
      statuses.push((await fetch(target, { method: 'POST' })).status);
      statuses.push((await fetch(target)).status);
      late = fetch(target).then(
        ({ status }) => status,
        () => 'closed',
      );
    });
    expect(server.accessTokens).toContain(token.accessToken);
    await expect.poll(() => statuses).toEqual([400, 400, 400, 400, 400, 200]);
    expect([400, 'closed']).toContain(await late);
  });

  it('reports a denial, a redirect of another server and a missing approval in words', async () => {
    server.behavior.decision = 'deny';
    const denied = login({ flow: 'authorization-code' });
    await expect(denied).rejects.toMatchObject({
      message: expect.stringContaining('access_denied'),
      hint: expect.stringContaining('denied the access'),
    });
    server.behavior.decision = 'approve';
    server.behavior.issuerInRedirect = 'https://evil.example';
    await expect(login({ flow: 'authorization-code' })).rejects.toThrow(/redirect came from another server/);
    const slow = login({ flow: 'authorization-code' }, { timeout: 20 }, () => {});
    await expect(slow).rejects.toThrow('The login was not finished in time');
  });

  it('ends when the caller aborts', async () => {
    const abort = new AbortController();
    const login1 = login({ flow: 'authorization-code' }, { signal: abort.signal }, () => abort.abort());
    await expect(login1).rejects.toMatchObject({ reason: 'CANCELED' });
  });

  it('registers a client if the user names none', async () => {
    const { clientId } = await login({ flow: 'authorization-code' }, { clientId: undefined });
    expect(clientId).not.toBe('tool');
  });
});

describe('device code', () => {
  /** A clock whose timers end at once. */
  function fastClock() {
    const pauses: number[] = [];
    let time = 0;
    const after = (millis: number, run: () => void) => {
      pauses.push(millis);
      time += millis;
      queueMicrotask(run);
      return () => {};
    };
    return { clock: { ...systemClock, monotonic: () => time, after }, pauses };
  }

  it('waits longer after slow_down', async () => {
    server.behavior.pollAnswers = ['authorization_pending', 'slow_down'];
    const { clock, pauses } = fastClock();
    const prompts: LoginPrompt[] = [];
    const token = await login({}, { clock }, (prompt) => prompts.push(prompt));
    expect(server.accessTokens).toContain(token.accessToken);
    expect(pauses).toEqual([5_000, 5_000, 10_000]);
    expect(prompts).toEqual([{ url: `${server.url}/activate`, userCode: 'WDJB-MJHT' }]);
  });

  it('reports denied, expired and unanswered requests in words', async () => {
    const { clock } = fastClock();
    server.behavior.decision = 'deny';
    await expect(login({}, { clock }, () => {})).rejects.toThrow('access_denied');
    server.behavior.pollAnswers = ['expired_token'];
    await expect(login({}, { clock }, () => {})).rejects.toMatchObject({
      hint: 'The code expired before you approved. Log in again.',
    });
    server.behavior.decision = 'wait';
    await expect(login({}, { clock }, () => {})).rejects.toThrow('The login was not approved in time');
  });
});

describe('tokens', () => {
  it('are renewed before they expire, once for concurrent requests, and sent to their agent only', async () => {
    server.behavior.tokenLifetime = 10;
    const token = await login({ flow: 'authorization-code' });
    server.behavior.tokenLifetime = 3_600;
    const credentials = loginCredentials(token, ['https://agent.example']);
    const send = async (url: string) =>
      credentials.headers({ url, operation: 'send', call: {}, http: undefined as never });
    const [one, two] = await Promise.all([send('https://agent.example/a'), send('https://agent.example/b')]);
    expect(one).toEqual(two);
    expect(one?.authorization).not.toBe(`Bearer ${token.accessToken}`);
    expect(await send('https://evil.example')).toEqual({});
    expect(await send('http://agent.example')).toEqual({});
    await expect(renewToken(token)).rejects.toThrow('invalid_grant');
  });
});

describe('confidential clients', () => {
  it.each(['authorization-code', 'device-code'] as const)(
    'authenticate in the %s flow, and to renew the token',
    async (flow) => {
      server.behavior.tokenLifetime = 10;
      const clock = {
        ...systemClock,
        after: (_millis: number, run: () => void) => systemClock.after(0, run),
      };
      const token = await login({ flow }, { ...confidentialClient, clock });
      server.behavior.tokenLifetime = 3_600;
      const renewed = await renewToken(token);
      expect(server.accessTokens).toContain(renewed?.accessToken);
      expect(renewed?.accessToken).not.toBe(token.accessToken);
    },
  );
});

describe('issuers', () => {
  const find = (path: string) =>
    findLoginGrant(cardWith({ type: 'openIdConnect', openIdConnectUrl: `${server.url}${path}` }), {});

  it.each([
    ['', '/.well-known/openid-configuration'],
    ['/', '/.well-known/openid-configuration'],
    ['/tenant-a', '/tenant-a/.well-known/openid-configuration'],
    ['/tenant-a/v2', '/.well-known/oauth-authorization-server/tenant-a/v2'],
    ['/tenant-a', '/.well-known/openid-configuration/tenant-a'],
    ['/tenant-a', '/tenant-a/.well-known/openid-configuration?version=2'],
  ])('are accepted as %j at %s', async (issuer, path) => {
    server.behavior.issuer = server.url + issuer;
    expect(await find(path)).toMatchObject({ issuer: server.url + issuer });
  });

  it.each([
    ['/tenant-b', '/tenant-a/.well-known/openid-configuration'],
    ['/tenant-b', '/.well-known/oauth-authorization-server/tenant-a'],
    ['/tenant-b', '/.well-known/openid-configuration'],
    ['', '/tenant-a/.well-known/openid-configuration'],
    ['/TENANT-A', '/tenant-a/.well-known/openid-configuration'],
    ['/{tenantid}', '/common/.well-known/openid-configuration'],
  ])('are rejected as %j at %s, if they are another tenant', async (issuer, path) => {
    server.behavior.issuer = server.url + issuer;
    await expect(find(path)).rejects.toThrow(/names the other issuer/);
  });

  it('of a redirect must be that of the tenant', async () => {
    server.behavior.issuer = `${server.url}/tenant-a`;
    const grant = await find('/tenant-a/.well-known/openid-configuration');
    server.behavior.issuerInRedirect = `${server.url}/tenant-b`;
    const attempt = logIn(
      { ...grant, flow: 'authorization-code' },
      { clientId: 'tool', prompt: ({ url }) => void fetch(url) },
    );
    await expect(attempt).rejects.toThrow(/redirect came from another server/);
  });
});

describe('authorization servers of a card', () => {
  it('must use https or loopback, also for the page that the user opens', async () => {
    const flows = (authorizationUrl: string, tokenUrl: string) =>
      cardWith({ type: 'oauth2', flows: { authorizationCode: { authorizationUrl, tokenUrl } } });
    const prompts: LoginPrompt[] = [];
    for (const card of [
      flows('javascript:alert(1)', `${server.url}/token`),
      flows('http://login.example/', `${server.url}/token`),
      flows(`${server.url}/authorize`, 'http://login.example/token'),
    ]) {
      const grant = await findLoginGrant(card, {});
      const attempt = logIn(grant, { clientId: 'tool', prompt: (prompt) => prompts.push(prompt) });
      await expect(attempt).rejects.toThrow(/does not use https/);
    }
    expect(prompts).toEqual([]);
  });

  it('are selected by flow and scheme, with an error that lists what the card declares', async () => {
    const key = cardWith({ type: 'apiKey', location: 'header', name: 'x-key' });
    expect([offeredFlows(key), offeredFlows(openId())]).toEqual([
      [],
      ['device-code', 'authorization-code', 'client-credentials'],
    ]);
    await expect(findLoginGrant(key, {})).rejects.toBeInstanceOf(LoginError);
    await expect(findLoginGrant(openId(), { scheme: 'other' })).rejects.toMatchObject({
      hint: expect.stringContaining('login (openIdConnect)'),
    });
  });
});
