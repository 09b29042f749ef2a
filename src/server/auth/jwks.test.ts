import { beforeAll, describe, expect, it } from 'vitest';
import { type TokenIssuer, createTokenIssuer } from '../../../test/support/server/token-issuer.ts';
import type { RequestHeaders } from '../http/http-message.ts';
import type { Authenticator, AuthenticationInput } from './authenticator.ts';
import { jwtAuth } from './schemes/jwt.ts';
import type { FetchLike } from '../../primitives/web/fetch-like.ts';
import type { JsonWebKeySet } from '../../primitives/web/jwks.ts';
import { oauth2Auth } from './schemes/oauth2.ts';
import { openIdConnectAuth } from './schemes/open-id-connect.ts';

let first: TokenIssuer;
let second: TokenIssuer;

beforeAll(async () => {
  first = await createTokenIssuer('one');
  second = await createTokenIssuer('two');
});

/** Creates a request with a token. */
const requestWithToken = (token: string): AuthenticationInput => ({
  method: 'POST',
  path: '/',
  query: '',
  headers: { authorization: `Bearer ${token}` } as RequestHeaders,
  isSecure: true,
  onDisconnect: () => {},
});

/** A JWKS server that can change its keys and fail, with a clock. */
class JwksServer {
  now = Date.now();
  requests: string[] = [];
  keys: JsonWebKeySet = { keys: [first.publicKey] };
  answer: (url: string) => Response = () => Response.json(this.keys);
  fetch: FetchLike = async (url, init) => {
    this.requests.push(url);
    expect(init.redirect).toBe('manual');
    return this.answer(url);
  };

  options(): { audience: string; fetch: FetchLike; now: () => number } {
    return { audience: 'agent', fetch: this.fetch, now: () => this.now };
  }

  jwt(): Authenticator {
    return jwtAuth({ ...this.options(), issuer: first.url, jwks: 'https://issuer.test/keys' });
  }
}

const reasonOf = (trying: unknown): Promise<unknown> =>
  Promise.resolve(trying).then(
    () => 'let in',
    (error: { reason?: string }) => error.reason,
  );

describe('remote JWKS', () => {
  it('fetches the key set once for the first concurrent tokens', async () => {
    const jwksServer = new JwksServer();
    const authenticator = jwksServer.jwt();
    expect(jwksServer.requests).toEqual([]);
    const token = await first.token();
    const known = await Promise.all(
      [1, 2, 3].map(async () => authenticator.authenticate(requestWithToken(token))),
    );
    expect(known.map((each) => each?.id)).toEqual(['alice', 'alice', 'alice']);
    expect(jwksServer.requests).toEqual(['https://issuer.test/keys']);
  });

  it('fetches the key set again for an unknown kid at most every 30 seconds', async () => {
    const jwksServer = new JwksServer();
    const authenticator = jwksServer.jwt();
    await authenticator.authenticate(requestWithToken(await first.token()));
    const rotated = requestWithToken(await second.token());
    expect(await reasonOf(authenticator.authenticate(rotated))).toBe('UNAUTHENTICATED');
    expect(jwksServer.requests).toHaveLength(1);
    jwksServer.keys = { keys: [first.publicKey, second.publicKey] };
    jwksServer.now += 30_001;
    expect(await authenticator.authenticate(rotated)).toMatchObject({ id: 'alice', issuer: first.url });
    expect(jwksServer.requests).toHaveLength(2);
    const invented = requestWithToken(await second.token({}, { kid: 'invented' }));
    for (let i = 0; i < 20; i++)
      expect(await reasonOf(authenticator.authenticate(invented))).toBe('UNAUTHENTICATED');
    expect(jwksServer.requests).toHaveLength(2);
  });

  it('rejects removed keys after ten minutes', async () => {
    const jwksServer = new JwksServer();
    const authenticator = jwksServer.jwt();
    const token = requestWithToken(await first.token());
    await authenticator.authenticate(token);
    jwksServer.keys = { keys: [second.publicKey] };
    jwksServer.now += 600_001;
    expect(await reasonOf(authenticator.authenticate(token))).toBe('UNAUTHENTICATED');
  });

  it('uses the last key set for an hour while the URL is unavailable', async () => {
    const jwksServer = new JwksServer();
    const authenticator = jwksServer.jwt();
    const token = requestWithToken(await first.token({ exp: Math.floor(Date.now() / 1000) + 36_000 }));
    await authenticator.authenticate(token);
    jwksServer.answer = () => new Response('down', { status: 503 });
    jwksServer.now += 600_001;
    expect(await authenticator.authenticate(token)).toMatchObject({ id: 'alice' });
    jwksServer.now += 3_600_000;
    expect(await reasonOf(authenticator.authenticate(token))).toBe('UNAVAILABLE');
    jwksServer.answer = () => Response.json(jwksServer.keys);
    jwksServer.now += 30_001;
    expect(await authenticator.authenticate(token)).toMatchObject({ id: 'alice' });
  });

  it.each<[string, () => Response]>([
    ['a redirect', () => new Response('', { status: 302, headers: { location: 'https://evil.test' } })],
    ['HTML', () => new Response('<html>')],
    ['an invalid JWKS', () => Response.json({ keys: 'many' })],
    ['null', () => Response.json(null)],
    [
      'a JWKS without public keys',
      () => Response.json({ keys: [{ kty: 'oct', k: 'c2VjcmV0', kid: 'one' }] }),
    ],
    ['a response above 1 MiB', () => new Response('x'.repeat(1_024 * 1_024 + 1))],
  ])('responds UNAVAILABLE when the server returns %s', async (_what, answer) => {
    const jwksServer = new JwksServer();
    jwksServer.answer = answer;
    const authenticator = jwksServer.jwt();
    const token = requestWithToken(await first.token());
    expect(await reasonOf(authenticator.authenticate(token))).toBe('UNAVAILABLE');
    expect(await reasonOf(authenticator.authenticate(token))).toBe('UNAVAILABLE');
    expect(jwksServer.requests).toHaveLength(1);
    jwksServer.answer = () => Response.json(jwksServer.keys);
    jwksServer.now += 1_001;
    expect(await authenticator.authenticate(token)).toMatchObject({ id: 'alice' });
  });
});

describe('token cache', () => {
  it('skips verification for a minute, but not after the token has expired', async () => {
    const jwksServer = new JwksServer();
    const authenticator = jwksServer.jwt();
    const seconds = Math.floor(jwksServer.now / 1_000);
    const token = requestWithToken(await first.token());
    const [before, again] = [await authenticator.authenticate(token), authenticator.authenticate(token)];
    expect(again).toBe(before);
    const short = requestWithToken(await first.token({ exp: seconds + 20 }));
    await authenticator.authenticate(short);
    jwksServer.now += 49_000;
    expect(authenticator.authenticate(short)).toMatchObject({ id: 'alice' });
    jwksServer.now += 2_000;
    expect(await reasonOf(authenticator.authenticate(short))).toBe('UNAUTHENTICATED');
    expect(authenticator.authenticate(token)).toBe(before);
    jwksServer.now += 10_000;
    expect(authenticator.authenticate(token)).toBeInstanceOf(Promise);
  });

  it('does not accept a token that differs in one character', async () => {
    const jwksServer = new JwksServer();
    const authenticator = jwksServer.jwt();
    const token = await first.token();
    await authenticator.authenticate(requestWithToken(token));
    const other = token.slice(0, -2) + (token.endsWith('AA') ? 'BB' : 'AA');
    expect(await reasonOf(authenticator.authenticate(requestWithToken(other)))).toBe('UNAUTHENTICATED');
  });
});

describe('static JWKS', () => {
  const audience = 'agent';

  it('accepts a token without kid if there is one key without kid', async () => {
    const { kid: _none, ...key } = first.publicKey;
    const authenticator = jwtAuth({ issuer: first.url, audience, jwks: { keys: [key] } });
    expect(
      await authenticator.authenticate(requestWithToken(await first.token({}, { kid: undefined }))),
    ).toMatchObject({
      id: 'alice',
    });
  });

  it('returns claims, scopes and the configured principal claim', async () => {
    const authenticator = jwtAuth({
      issuer: first.url,
      audience,
      jwks: { keys: [first.publicKey] },
      principal: 'client_id',
    });
    const token = await first.token({ client_id: 'robot', scope: 'a  b', scp: ['c'] });
    expect(await authenticator.authenticate(requestWithToken(token))).toMatchObject({
      id: 'robot',
      issuer: first.url,
      scopes: ['a', 'b', 'c'],
      claims: { client_id: 'robot' },
    });
  });
});

describe('openIdConnectAuth', () => {
  const metadata = 'https://issuer.test/.well-known/openid-configuration';

  it.each(['https://issuer.test', 'https://issuer.test/'])('discovers the keys of %s', async (issuerUrl) => {
    const jwksServer = new JwksServer();
    jwksServer.answer = (url) =>
      Response.json(
        url === metadata ? { issuer: issuerUrl, jwks_uri: 'https://keys.test/set' } : jwksServer.keys,
      );
    const authenticator = openIdConnectAuth({ ...jwksServer.options(), issuerUrl });
    expect(
      await authenticator.authenticate(requestWithToken(await first.token({ iss: issuerUrl }))),
    ).toMatchObject({
      id: 'alice',
    });
    expect(jwksServer.requests).toEqual([metadata, 'https://keys.test/set']);
    expect(authenticator.schemes).toEqual({
      openIdConnect: { type: 'openIdConnect', openIdConnectUrl: metadata },
    });
  });

  it.each<[string, unknown]>([
    ['names another issuer', { issuer: 'https://evil.test', jwks_uri: 'https://evil.test/set' }],
    ['has an unencrypted jwks_uri', { issuer: 'https://issuer.test', jwks_uri: 'http://issuer.test/set' }],
    ['has an invalid jwks_uri', { issuer: 'https://issuer.test', jwks_uri: 'set' }],
    ['has no jwks_uri', { issuer: 'https://issuer.test' }],
  ])('rejects metadata that %s', async (_what, document) => {
    const jwksServer = new JwksServer();
    jwksServer.answer = () => Response.json(document);
    const authenticator = openIdConnectAuth({ ...jwksServer.options(), issuerUrl: 'https://issuer.test' });
    expect(await reasonOf(authenticator.authenticate(requestWithToken(await first.token())))).toBe(
      'UNAVAILABLE',
    );
    expect(jwksServer.requests).toEqual([metadata]);
  });
});

describe('oauth2Auth', () => {
  it('declares the OAuth 2 flows in the card', async () => {
    const flows = { clientCredentials: { tokenUrl: 'https://issuer.test/token', scopes: { talk: 'Talk' } } };
    const authenticator = oauth2Auth({
      issuer: first.url,
      audience: 'agent',
      jwks: { keys: [first.publicKey] },
      flows,
      metadataUrl: 'https://issuer.test/metadata',
      requiredScopes: ['talk'],
    });
    expect(authenticator.schemes).toEqual({
      oauth2: { type: 'oauth2', flows, oauth2MetadataUrl: 'https://issuer.test/metadata' },
    });
    expect(authenticator.scopes).toEqual(['talk']);
    expect(await authenticator.authenticate(requestWithToken(await first.token()))).toMatchObject({
      id: 'alice',
    });
  });
});
