import { createHmac, createPublicKey } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LocalAgent } from '../../../src/engine/index.ts';
import { A2AError } from '../../../src/protocol/errors.ts';
import { jwtAuth } from '../../../src/server/auth/schemes/jwt.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { type ServerUnderTest, serverAdapters } from '../../support/server/server-adapters.ts';
import { encodeJwtPart, type TokenIssuer, createTokenIssuer } from '../../support/server/token-issuer.ts';

describe.each(serverAdapters)('JWT auth at $name', ({ open }) => {
  let agent: LocalAgent;
  let door: ServerUnderTest;
  let honest: TokenIssuer;
  let other: TokenIssuer;
  const refused: A2AError[] = [];
  const faults: unknown[] = [];

  beforeAll(async () => {
    agent = sampleAgent();
    honest = await createTokenIssuer();
    other = await createTokenIssuer();
    const second = { ...(await createTokenIssuer('two')).publicKey };
    const jwks = { keys: [honest.publicKey, second] };
    door = await open(agent, {
      auth: {
        authenticators: [jwtAuth({ issuer: honest.url, audience: 'agent', jwks, requiredScopes: ['talk'] })],
        onDenied: (error) => refused.push(error),
      },
      onError: (error) => faults.push(error),
    });
  });
  afterAll(async () => {
    await door.close();
    await agent.close();
  });

  const ask = (token: string): Promise<Response> =>
    door.request('/', {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'a2a-version': '1.0', 'content-type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}',
    });
  const good = { scope: 'talk walk' };
  const seconds = (): number => Math.floor(Date.now() / 1000);

  it('accepts a valid token', async () => {
    const response = await ask(await honest.token(good));
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ result: { tasks: [] } });
  });

  it('accepts scopes as a list and one of several audiences', async () => {
    expect((await ask(await honest.token({ scp: ['talk'], aud: ['else', 'agent'] }))).status).toBe(200);
  });

  it('responds 403 with the missing scope', async () => {
    const response = await ask(await honest.token({ scope: 'walk' }));
    expect(response.status).toBe(403);
    expect(response.headers.get('www-authenticate')).toBe(
      'Bearer realm="a2a", error="insufficient_scope", scope="talk"',
    );
    expect(await response.json()).toMatchObject({
      error: { code: -32600, data: [{ reason: 'PERMISSION_DENIED' }] },
    });
  });

  /** Signs with a symmetric key. */
  const hmac = (header: object, claims: object, secret: string | Buffer): string => {
    const signed = `${encodeJwtPart(header)}.${encodeJwtPart(claims)}`;
    return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
  };
  const claims = (): object => ({
    iss: honest.url,
    aud: 'agent',
    sub: 'mallory-the-secret',
    exp: seconds() + 3600,
    ...good,
  });
  const pem = (): string =>
    createPublicKey({ key: honest.publicKey as never, format: 'jwk' }).export({
      type: 'spki',
      format: 'pem',
    }) as string;

  const hostile: { name: string; make: () => Promise<string> | string; hint?: RegExp }[] = [
    { name: 'is not signed', make: () => `${encodeJwtPart({ alg: 'none' })}.${encodeJwtPart(claims())}.` },
    {
      name: 'is not signed but says more',
      make: () => `${encodeJwtPart({ alg: 'none', kid: 'one' })}.${encodeJwtPart(claims())}.AA`,
    },
    {
      name: 'is not signed, in other letters',
      make: () => `${encodeJwtPart({ alg: 'nOnE', kid: 'one' })}.${encodeJwtPart(claims())}.AA`,
    },
    {
      name: 'is signed with the public key as a secret',
      make: () => hmac({ alg: 'HS256', kid: 'one' }, claims(), pem()),
      hint: /ALG_NOT_ALLOWED/,
    },
    {
      name: 'is signed with the public JSON key as a secret',
      make: () => hmac({ alg: 'HS256', kid: 'one' }, claims(), JSON.stringify(honest.publicKey)),
    },
    {
      name: 'is signed with nothing as a secret',
      make: () => hmac({ alg: 'HS256', kid: 'one' }, claims(), ''),
    },
    { name: 'has another audience', make: () => honest.token({ ...good, aud: 'other' }), hint: /aud/ },
    { name: 'has no audience', make: () => honest.token({ ...good, aud: undefined }), hint: /aud/ },
    {
      name: 'has another issuer',
      make: () => honest.token({ ...good, iss: 'https://other.test' }),
      hint: /iss/,
    },
    {
      name: 'is of the same issuer with a slash',
      make: () => honest.token({ ...good, iss: `${honest.url}/` }),
      hint: /iss/,
    },
    { name: 'is expired', make: () => honest.token({ ...good, exp: seconds() - 60 }), hint: /EXPIRED/ },
    { name: 'never expires', make: () => honest.token({ ...good, exp: undefined }), hint: /exp/ },
    {
      name: 'expires in words',
      make: () => honest.token({ ...good, exp: 'tomorrow' as never }),
      hint: /exp/,
    },
    { name: 'is not yet valid', make: () => honest.token({ ...good, nbf: seconds() + 600 }), hint: /nbf/ },
    {
      name: 'names an unknown key',
      make: () => honest.token(good, { kid: 'three' }),
      hint: /NO_MATCHING_KEY/,
    },
    {
      name: 'names a key of another issuer',
      make: () => honest.token(good, { kid: 'two' }),
      hint: /SIGNATURE/,
    },
    { name: 'names no key', make: () => honest.token(good, { kid: undefined }), hint: /has no kid/ },
    {
      name: 'brings its own key',
      make: () => other.token(good, { kid: undefined, jwk: other.publicKey }),
      hint: /has no kid/,
    },
    {
      name: 'says where its key is',
      make: () => other.token(good, { jku: 'https://evil.test/keys' }),
      hint: /SIGNATURE/,
    },
    { name: 'has a path for a key', make: () => other.token(good, { kid: '../../etc/passwd' }) },
    { name: 'has no subject', make: () => honest.token({ ...good, sub: undefined }), hint: /sub/ },
    { name: 'has a number for a subject', make: () => honest.token({ ...good, sub: 7 as never }) },
    { name: 'has an empty subject', make: () => honest.token({ ...good, sub: '' }), hint: /sub/ },
    {
      name: 'has an unknown critical header',
      make: () => honest.token(good, { crit: ['strange'], strange: 1 }),
      hint: /NOT_SUPPORTED/,
    },
    { name: 'demands nothing', make: () => forge({ crit: [] }) },
    { name: 'is signed with another key', make: () => other.token(good), hint: /SIGNATURE/ },
    { name: 'was changed', make: async () => changed(await honest.token(good)), hint: /SIGNATURE/ },
    {
      name: 'lost its signature',
      make: async () => `${(await honest.token(good)).split('.').slice(0, 2).join('.')}.`,
    },
    { name: 'is huge', make: () => honest.token({ ...good, more: 'x'.repeat(9_400) }), hint: /12288/ },
    { name: 'has one piece', make: () => 'opaquePiece' },
    { name: 'has five pieces', make: () => 'a.b.c.d.e' },
    { name: 'is made of dots', make: () => '..' },
    { name: 'has no JSON inside', make: () => `${encodeJwtPart('garbage')}.${encodeJwtPart('{{{{')}.AAAA` },
    {
      name: 'is nested',
      make: () => `${encodeJwtPart(`${'{"alg":'.repeat(900)}1${'}'.repeat(900)}`)}.${encodeJwtPart('{}')}.AA`,
    },
    { name: 'is a list', make: () => `${encodeJwtPart([])}.${encodeJwtPart([])}.${encodeJwtPart([])}` },
    { name: 'has null inside', make: () => `${encodeJwtPart('null')}.${encodeJwtPart('null')}.AA` },
    { name: 'has another token inside', make: async () => nested(await honest.token(good)) },
    {
      name: 'is not encoded',
      make: () => honest.token(good, { b64: false, crit: ['b64'] }).catch(() => 'a.b.c'),
    },
  ];

  /** Creates a token with an arbitrary header. */
  function forge(header: object): string {
    return `${encodeJwtPart({ alg: 'ES256', kid: 'one', ...header })}.${encodeJwtPart(claims())}.${encodeJwtPart('x'.repeat(64))}`;
  }

  function changed(token: string): string {
    const [header, payload, signature] = token.split('.');
    const decoded = JSON.parse(Buffer.from(payload ?? '', 'base64url').toString());
    return `${header}.${encodeJwtPart({ ...decoded, sub: 'root' })}.${signature}`;
  }

  function nested(token: string): string {
    return `${encodeJwtPart({ alg: 'ES256', kid: 'one', cty: 'JWT' })}.${encodeJwtPart(token)}.${token.split('.')[2]}`;
  }

  it.each(hostile)('rejects a token that $name', async ({ make, hint }) => {
    refused.length = 0;
    const token = await make();
    const response = await ask(token);
    const text = await response.text();
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="a2a", error="invalid_token"');
    expect(JSON.parse(text)).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: {
        code: -32600,
        message: 'Invalid credentials',
        data: [expect.objectContaining({ reason: 'UNAUTHENTICATED', metadata: {} })],
      },
    });
    const [rejection] = refused;
    if (hint) expect(rejection?.hint).toMatch(hint);
    // Neither the response nor the log contains any of it.
    const logged = `${text} ${rejection?.message} ${rejection?.hint} ${JSON.stringify(rejection)} ${String(rejection?.cause)}`;
    for (const piece of token.split('.')) if (piece.length > 3) expect(logged).not.toContain(piece);
    expect(logged).not.toContain('mallory');
    expect(faults).toEqual([]);
  });

  it('tolerates clock skew', async () => {
    expect((await ask(await honest.token({ ...good, exp: seconds() - 10 }))).status).toBe(200);
    expect((await ask(await honest.token({ ...good, nbf: seconds() + 10 }))).status).toBe(200);
  });
});

describe('jwtAuth options', () => {
  const options = { issuer: 'https://issuer.test', audience: 'agent', jwks: 'https://issuer.test/keys' };

  it.each(['none', 'HS256', 'HS512', 'dir', 'toString'])('reject the algorithm %s', (algorithm) => {
    expect(() => jwtAuth({ ...options, algorithms: ['ES256', algorithm] })).toThrow(/algorithms/);
  });

  it('require audience and issuer', () => {
    expect(() => jwtAuth({ ...options, audience: [] })).toThrow(/audience/);
    expect(() => jwtAuth({ ...options, issuer: '' })).toThrow(/issuer/);
    expect(() => jwtAuth({ ...options, jwks: 'keys' })).toThrow(/jwks/);
  });

  it('throw A2AError', () => {
    expect(() => jwtAuth({ ...options, algorithms: ['none'] })).toThrow(A2AError);
  });
});
