import { beforeAll, describe, expect, it } from 'vitest';
import { type TokenIssuer, createTokenIssuer } from '../../../test/support/server/token-issuer.ts';
import type { RequestHeaders } from '../http/http-message.ts';
import type { Authenticator, AuthenticationInput } from './authenticator.ts';
import { jwtAuth } from './schemes/jwt.ts';
import type { FetchLike, JsonWebKeySet } from './jwks.ts';
import { oauth2Auth } from './schemes/oauth2.ts';
import { openIdConnectAuth } from './schemes/open-id-connect.ts';

let first: TokenIssuer;
let second: TokenIssuer;

beforeAll(async () => {
  first = await createTokenIssuer('one');
  second = await createTokenIssuer('two');
});

/** Somebody who shows a token. */
const shows = (token: string): AuthenticationInput => ({
  method: 'POST',
  path: '/',
  query: '',
  headers: { authorization: `Bearer ${token}` } as RequestHeaders,
  isSecure: true,
  onDisconnect: () => {},
});

/** A place with keys that can change and fail, and a clock. */
class KeyPlace {
  now = Date.now();
  asked: string[] = [];
  keys: JsonWebKeySet = { keys: [first.publicKey] };
  answer: (url: string) => Response = () => Response.json(this.keys);
  fetch: FetchLike = async (url, init) => {
    this.asked.push(url);
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

describe('keys from somewhere else', () => {
  it('are asked for when the first token comes, once for all that wait', async () => {
    const place = new KeyPlace();
    const way = place.jwt();
    expect(place.asked).toEqual([]);
    const token = await first.token();
    const known = await Promise.all([1, 2, 3].map(async () => way.authenticate(shows(token))));
    expect(known.map((each) => each?.id)).toEqual(['alice', 'alice', 'alice']);
    expect(place.asked).toEqual(['https://issuer.test/keys']);
  });

  it('are asked for again when a token names a new one, but not more often than every 30 seconds', async () => {
    const place = new KeyPlace();
    const way = place.jwt();
    await way.authenticate(shows(await first.token()));
    const rotated = shows(await second.token());
    expect(await reasonOf(way.authenticate(rotated))).toBe('UNAUTHENTICATED');
    expect(place.asked).toHaveLength(1);
    place.keys = { keys: [first.publicKey, second.publicKey] };
    place.now += 30_001;
    expect(await way.authenticate(rotated)).toMatchObject({ id: 'alice', issuer: first.url });
    expect(place.asked).toHaveLength(2);
    const invented = shows(await second.token({}, { kid: 'invented' }));
    for (let i = 0; i < 20; i++) expect(await reasonOf(way.authenticate(invented))).toBe('UNAUTHENTICATED');
    expect(place.asked).toHaveLength(2);
  });

  it('that are gone are no longer good after ten minutes', async () => {
    const place = new KeyPlace();
    const way = place.jwt();
    const token = shows(await first.token());
    await way.authenticate(token);
    place.keys = { keys: [second.publicKey] };
    place.now += 600_001;
    expect(await reasonOf(way.authenticate(token))).toBe('UNAUTHENTICATED');
  });

  it('stay good for an hour while nobody answers', async () => {
    const place = new KeyPlace();
    const way = place.jwt();
    const token = shows(await first.token({ exp: Math.floor(Date.now() / 1000) + 36_000 }));
    await way.authenticate(token);
    place.answer = () => new Response('down', { status: 503 });
    place.now += 600_001;
    expect(await way.authenticate(token)).toMatchObject({ id: 'alice' });
    place.now += 3_600_000;
    expect(await reasonOf(way.authenticate(token))).toBe('UNAVAILABLE');
    place.answer = () => Response.json(place.keys);
    place.now += 30_001;
    expect(await way.authenticate(token)).toMatchObject({ id: 'alice' });
  });

  it.each<[string, () => Response]>([
    ['a redirect', () => new Response('', { status: 302, headers: { location: 'https://evil.test' } })],
    ['no JSON', () => new Response('<html>')],
    ['no key set', () => Response.json({ keys: 'many' })],
    ['null', () => Response.json(null)],
    ['a set without public keys', () => Response.json({ keys: [{ kty: 'oct', k: 'c2VjcmV0', kid: 'one' }] })],
    ['no end', () => new Response('x'.repeat(1_024 * 1_024 + 1))],
  ])('are not there when %s comes, and that is not the fault of the caller', async (_what, answer) => {
    const place = new KeyPlace();
    place.answer = answer;
    const way = place.jwt();
    const token = shows(await first.token());
    expect(await reasonOf(way.authenticate(token))).toBe('UNAVAILABLE');
    expect(await reasonOf(way.authenticate(token))).toBe('UNAVAILABLE');
    expect(place.asked).toHaveLength(1);
    place.answer = () => Response.json(place.keys);
    place.now += 1_001;
    expect(await way.authenticate(token)).toMatchObject({ id: 'alice' });
  });
});

describe('a token that was good', () => {
  it('is not checked again for a minute, but never after it expired', async () => {
    const place = new KeyPlace();
    const way = place.jwt();
    const seconds = Math.floor(place.now / 1_000);
    const token = shows(await first.token());
    const [before, again] = [await way.authenticate(token), way.authenticate(token)];
    expect(again).toBe(before);
    const short = shows(await first.token({ exp: seconds + 20 }));
    await way.authenticate(short);
    place.now += 49_000;
    expect(way.authenticate(short)).toMatchObject({ id: 'alice' });
    place.now += 2_000;
    expect(await reasonOf(way.authenticate(short))).toBe('UNAUTHENTICATED');
    expect(way.authenticate(token)).toBe(before);
    place.now += 10_000;
    expect(way.authenticate(token)).toBeInstanceOf(Promise);
  });

  it('does not make another good that differs in one letter', async () => {
    const place = new KeyPlace();
    const way = place.jwt();
    const token = await first.token();
    await way.authenticate(shows(token));
    const other = token.slice(0, -2) + (token.endsWith('AA') ? 'BB' : 'AA');
    expect(await reasonOf(way.authenticate(shows(other)))).toBe('UNAUTHENTICATED');
  });
});

describe('keys that are at hand', () => {
  const audience = 'agent';

  it('need no name when there is one', async () => {
    const { kid: _none, ...key } = first.publicKey;
    const way = jwtAuth({ issuer: first.url, audience, jwks: { keys: [key] } });
    expect(await way.authenticate(shows(await first.token({}, { kid: undefined })))).toMatchObject({
      id: 'alice',
    });
  });

  it('give the claims, the scopes and the name that is asked for', async () => {
    const way = jwtAuth({
      issuer: first.url,
      audience,
      jwks: { keys: [first.publicKey] },
      principal: 'client_id',
    });
    const token = await first.token({ client_id: 'robot', scope: 'a  b', scp: ['c'] });
    expect(await way.authenticate(shows(token))).toMatchObject({
      id: 'robot',
      issuer: first.url,
      scopes: ['a', 'b', 'c'],
      claims: { client_id: 'robot' },
    });
  });
});

describe('OpenID Connect', () => {
  const metadata = 'https://issuer.test/.well-known/openid-configuration';

  it.each(['https://issuer.test', 'https://issuer.test/'])('finds the keys of %s', async (issuerUrl) => {
    const place = new KeyPlace();
    place.answer = (url) =>
      Response.json(url === metadata ? { issuer: issuerUrl, jwks_uri: 'https://keys.test/set' } : place.keys);
    const way = openIdConnectAuth({ ...place.options(), issuerUrl });
    expect(await way.authenticate(shows(await first.token({ iss: issuerUrl })))).toMatchObject({
      id: 'alice',
    });
    expect(place.asked).toEqual([metadata, 'https://keys.test/set']);
    expect(way.schemes).toEqual({ openIdConnect: { type: 'openIdConnect', openIdConnectUrl: metadata } });
  });

  it.each<[string, unknown]>([
    ['speaks for somebody else', { issuer: 'https://evil.test', jwks_uri: 'https://evil.test/set' }],
    ['sends us to a plain connection', { issuer: 'https://issuer.test', jwks_uri: 'http://issuer.test/set' }],
    ['sends us nowhere', { issuer: 'https://issuer.test', jwks_uri: 'set' }],
    ['has no keys', { issuer: 'https://issuer.test' }],
  ])('does not follow metadata that %s', async (_what, said) => {
    const place = new KeyPlace();
    place.answer = () => Response.json(said);
    const way = openIdConnectAuth({ ...place.options(), issuerUrl: 'https://issuer.test' });
    expect(await reasonOf(way.authenticate(shows(await first.token())))).toBe('UNAVAILABLE');
    expect(place.asked).toEqual([metadata]);
  });
});

describe('OAuth 2', () => {
  it('says on the card how to get a token', async () => {
    const flows = { clientCredentials: { tokenUrl: 'https://issuer.test/token', scopes: { talk: 'Talk' } } };
    const way = oauth2Auth({
      issuer: first.url,
      audience: 'agent',
      jwks: { keys: [first.publicKey] },
      flows,
      metadataUrl: 'https://issuer.test/metadata',
      requiredScopes: ['talk'],
    });
    expect(way.schemes).toEqual({
      oauth2: { type: 'oauth2', flows, oauth2MetadataUrl: 'https://issuer.test/metadata' },
    });
    expect(way.scopes).toEqual(['talk']);
    expect(await way.authenticate(shows(await first.token()))).toMatchObject({ id: 'alice' });
  });
});
