import { base64url, CompactSign, FlattenedSign, type JWK } from 'jose';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import {
  leafPaths,
  createKeyPair,
  type KeyPair,
  plainCard,
  reverseMembers,
  tamperLeaf,
} from '../../test/support/signing/signed-card.ts';
import { canonicalCard, type WireCard } from './canonical-card.ts';
import { signCard } from './sign-card.ts';
import { verifyCard } from './verify-card.ts';

let pair: KeyPair;
let other: KeyPair;
let signed: WireCard;
let keys: { k1: JWK };
beforeAll(async () => {
  pair = await createKeyPair('ES256', 'k1');
  other = await createKeyPair('EdDSA', 'k2');
  signed = await signCard(plainCard, { key: pair.privateKey, kid: 'k1' });
  keys = { k1: pair.publicKey };
});

/** Signs any text with any header, without the checks of signCard. */
async function forged(header: object, text?: string, key: JWK = pair.privateKey): Promise<WireCard> {
  const payload = new TextEncoder().encode(text ?? (await canonicalCard(plainCard)));
  const jws = await new FlattenedSign(payload)
    .setProtectedHeader({ alg: 'ES256', ...header })
    .sign(key, { crit: { 'urn:odd': true } });
  return { ...plainCard, signatures: [{ protected: jws.protected, signature: jws.signature }] };
}

describe('verifyCard', () => {
  it('returns verified with key, algorithm, form and card', async () => {
    const verdict = await verifyCard(signed, { keys });
    expect(verdict).toEqual({
      result: 'verified',
      reason: 'signed by key "k1"',
      kid: 'k1',
      alg: 'ES256',
      form: 1,
      card: plainCard,
    });
  });

  it('verifies a reordered and indented card', async () => {
    const again = JSON.parse(JSON.stringify(reverseMembers(signed), null, 2)) as unknown;
    expect(await verifyCard(again, { keys })).toMatchObject({ result: 'verified' });
  });

  it.each(leafPaths(plainCard).map((path) => [path.join('.'), path] as const))(
    'returns invalid when %s was changed',
    async (_name, path) => {
      for (const interop of [false, true]) {
        expect(await verifyCard(tamperLeaf(signed, path), { keys, acceptSdkForms: interop })).toMatchObject({
          result: 'invalid',
          kid: 'k1',
        });
      }
    },
  );

  it.each(Object.keys(plainCard))('returns invalid when %s was removed', async (name) => {
    const { [name]: _gone, ...rest } = signed;
    expect((await verifyCard(rest, { keys, acceptSdkForms: true })).result).toBe('invalid');
  });

  it('returns a card without the members of an older version, which the signature does not cover', async () => {
    const hybrid = { ...signed, url: 'https://evil.test', protocolVersion: '0.3.0' };
    const { result, card } = await verifyCard(hybrid, { keys });
    expect(result).toBe('verified');
    expect(card).not.toHaveProperty('url');
    expect(card).not.toHaveProperty('protocolVersion');
    expect(await verifyCard({ ...signed, surprise: 1 }, { keys })).toMatchObject({ result: 'invalid' });
  });

  it('returns only known members with acceptSdkForms', async () => {
    const extended = { ...signed, surprise: 'https://evil.test' };
    const { result, form, card } = await verifyCard(extended, { keys, acceptSdkForms: true });
    expect([result, form]).toEqual(['verified', 2]);
    expect(card).not.toHaveProperty('surprise');
  });

  it('returns unverifiable for an unknown key', async () => {
    expect(await verifyCard(signed, { keys: { k2: other.publicKey } })).toEqual({
      result: 'unverifiable',
      reason: 'unknown key "k1"',
      kid: 'k1',
      alg: 'ES256',
    });
  });

  it('returns invalid when another key has the kid', async () => {
    const { publicKey } = await createKeyPair('ES256', 'k1');
    expect(await verifyCard(signed, { keys: { k1: publicKey } })).toMatchObject({ result: 'invalid' });
  });

  it.each([
    ['no signatures', {}],
    ['an empty list', { signatures: [] }],
    ['null', { signatures: null }],
  ])('returns absent for %s', async (_what, signatures) => {
    expect(await verifyCard({ ...plainCard, ...signatures }, { keys })).toMatchObject({ result: 'absent' });
  });
});

describe('verifyCard keys', () => {
  it('verifies a card with old and new signature with either key', async () => {
    const both = await signCard(signed, { key: other.privateKey, kid: 'k2' });
    expect(await verifyCard(both, { keys })).toMatchObject({ result: 'verified', kid: 'k1' });
    expect(await verifyCard(both, { jwks: { keys: [other.publicKey] } })).toMatchObject({
      result: 'verified',
      kid: 'k2',
    });
  });

  it('accepts one valid signature, and prefers invalid over unverifiable', async () => {
    const [valid] = signed.signatures as object[];
    const wrong = { ...valid, signature: 'AAAA' };
    const [unknown] = (await forged({ kid: 'k9' })).signatures as object[];
    const cardWith = (...signatures: unknown[]): WireCard => ({ ...plainCard, signatures });
    expect((await verifyCard(cardWith(wrong, 7, null, {}, unknown, valid), { keys })).result).toBe(
      'verified',
    );
    expect((await verifyCard(cardWith(unknown, wrong), { keys })).result).toBe('invalid');
  });

  it('tries all keys of a set with the same kid', async () => {
    const jwks = { keys: [{ ...other.publicKey, kid: 'k1' }, pair.publicKey] };
    expect(await verifyCard(signed, { jwks })).toMatchObject({ result: 'verified' });
  });

  it.each([
    ['expired', { exp: 1000 }],
    ['not yet valid', { nbf: 3000 }],
    ['revoked', { revoked: { revoked_at: 1500 } }],
  ])('does not use keys that are %s', async (_what, member) => {
    const jwks = { keys: [{ ...pair.publicKey, ...member }] };
    expect(await verifyCard(signed, { jwks, now: () => 2_000_000 })).toMatchObject({
      result: 'unverifiable',
      reason: 'key "k1" is expired, not yet valid or revoked',
    });
    const timely = { keys: [{ ...pair.publicKey, nbf: 1999, exp: 2001, revoked: false }] };
    expect(await verifyCard(signed, { jwks: timely, now: () => 2_000_000 })).toMatchObject({
      result: 'verified',
    });
  });

  it('rejects private keys and keys of another type', async () => {
    for (const k1 of [pair.privateKey, other.publicKey, { kty: 'oct', k: 'AAAA' }]) {
      expect(await verifyCard(signed, { keys: { k1 } })).toMatchObject({
        result: 'invalid',
        reason: 'key "k1" is not a public key for ES256',
      });
    }
  });

  it('does not find keys under names of Object.prototype', async () => {
    const card = await forged({ kid: 'constructor' });
    expect(await verifyCard(card, { keys: {} })).toMatchObject({ result: 'unverifiable' });
  });
});

describe('verifyCard jku', () => {
  const jku = 'https://keys.test/set.json';
  const jwks = (): Promise<{ keys: JWK[] }> => Promise.resolve({ keys: [other.publicKey, pair.publicKey] });
  const pointing = (to: string): Promise<WireCard> => forged({ kid: 'k1', jku: to });

  it.each([[[jku]], [['https://keys.test']], [['https://else.test', 'https://keys.test/']]])(
    'fetches the key set when %j allows it',
    async (allowedJku) => {
      const fetchKey = vi.fn(jwks);
      const verdict = await verifyCard(await pointing(jku), { fetchKey, allowedJku });
      expect(verdict).toMatchObject({ result: 'verified', kid: 'k1', jku });
      expect(fetchKey.mock.calls).toEqual([['k1', jku]]);
    },
  );

  it.each([
    [jku, undefined],
    [jku, []],
    [jku, ['https://keys.test/other.json']],
    ['http://keys.test/set.json', ['https://keys.test', 'http://keys.test']],
    ['https://keys.test.evil.test/set.json', ['https://keys.test']],
    ['https://keys.test@evil.test/set.json', ['https://keys.test']],
    ['https://user@keys.test/set.json', ['https://keys.test']],
    ['https://keys.test:8443/set.json', ['https://keys.test']],
    ['file:///etc/keys', ['https://keys.test']],
    ['set.json', ['https://keys.test']],
  ])('does not fetch %s when %j is allowed', async (to, allowedJku) => {
    const fetchKey = vi.fn(jwks);
    const verdict = await verifyCard(await pointing(to), { fetchKey, allowedJku });
    expect(verdict.result).toBe('unverifiable');
    expect(verdict.reason).toContain('is not allowed');
    expect(fetchKey).not.toHaveBeenCalled();
  });

  it('does not fetch a known key', async () => {
    const fetchKey = vi.fn(jwks);
    const verdict = await verifyCard(await pointing('https://evil.test'), { keys, fetchKey });
    expect(verdict).toMatchObject({ result: 'verified' });
    expect(verdict).not.toHaveProperty('jku');
    expect(fetchKey).not.toHaveBeenCalled();
  });

  it('fetches a key by kid without jku', async () => {
    const fetchKey = vi.fn(() => Promise.resolve(pair.publicKey));
    expect(await verifyCard(signed, { fetchKey })).toMatchObject({ result: 'verified' });
    expect(fetchKey.mock.calls).toEqual([['k1', undefined]]);
  });

  it('returns unverifiable when fetching fails or the key is missing', async () => {
    const answers = [
      () => Promise.reject(new Error('no route')),
      () => Promise.resolve(undefined),
      () => Promise.resolve({ keys: [other.publicKey] }),
      () => Promise.resolve({ keys: [null, 7] as unknown as JWK[] }),
    ];
    for (const fetchKey of answers) {
      expect((await verifyCard(signed, { fetchKey })).result).toBe('unverifiable');
    }
  });
});

describe('verifyCard with an invalid signature', () => {
  it('returns invalid for the algorithm none', async () => {
    const protectedHeader = base64url.encode('{"alg":"none","kid":"k1"}');
    const card = { ...plainCard, signatures: [{ protected: protectedHeader, signature: '' }] };
    expect(await verifyCard(card, { keys })).toEqual({
      result: 'invalid',
      reason: 'algorithm "none" is not accepted',
    });
  });

  it('returns invalid for HS256 with the public key as secret', async () => {
    const secret = new TextEncoder().encode(JSON.stringify(pair.publicKey));
    const compact = await new CompactSign(new TextEncoder().encode(await canonicalCard(plainCard)))
      .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
      .sign(secret);
    const [head, , signature] = compact.split('.');
    const card = { ...plainCard, signatures: [{ protected: head, signature }] };
    expect(await verifyCard(card, { keys })).toMatchObject({ result: 'invalid' });
    await expect(verifyCard(card, { keys, algorithms: ['HS256'] })).rejects.toThrow(/^algorithms must be/);
    await expect(verifyCard(card, { keys, algorithms: ['none'] })).rejects.toThrow(/^algorithms must be/);
  });

  it('returns invalid for an algorithm outside of options.algorithms', async () => {
    expect(await verifyCard(signed, { keys, algorithms: ['EdDSA'] })).toMatchObject({ result: 'invalid' });
    expect(await verifyCard(signed, { keys, algorithms: ['ES256'] })).toMatchObject({ result: 'verified' });
  });

  it.each([
    ['a custom one', { crit: ['urn:odd'], 'urn:odd': true }],
    ['b64', { crit: ['b64'], b64: true }],
  ])('returns invalid for a critical header (%s)', async (_what, header) => {
    expect(await verifyCard(await forged({ kid: 'k1', ...header }), { keys })).toMatchObject({
      result: 'invalid',
      reason: expect.stringContaining('critical') as string,
    });
  });

  it('returns invalid without kid in the protected header', async () => {
    const card = await forged({});
    const [signature] = card.signatures as object[];
    const named = { ...card, signatures: [{ ...signature, header: { kid: 'k1' } }] };
    expect(await verifyCard(named, { keys })).toMatchObject({ result: 'invalid' });
  });

  it('returns invalid when both headers contain the same member', async () => {
    const [signature] = signed.signatures as object[];
    const twice = { ...plainCard, signatures: [{ ...signature, header: { kid: 'k1' } }] };
    expect(await verifyCard(twice, { keys })).toMatchObject({ result: 'invalid' });
    const free = { ...plainCard, signatures: [{ ...signature, header: { note: 'hello' } }] };
    expect(await verifyCard(free, { keys })).toMatchObject({ result: 'verified' });
  });

  it.each([
    ['a card that is not an object', null],
    ['a card that is a list', []],
    ['signatures that are not a list', { ...plainCard, signatures: {} }],
    ['a header that is not base64', { ...plainCard, signatures: [{ protected: '%', signature: 'AA' }] }],
    ['a header that is not an object', { ...plainCard, signatures: [{ protected: 'MQ', signature: 'AA' }] }],
    ['a missing header', { ...plainCard, signatures: [{ signature: 'AA' }] }],
    ['a lone surrogate', { ...plainCard, name: '\ud800', signatures: [{}] }],
    ['too many signatures', { ...plainCard, signatures: Array.from({ length: 17 }, () => ({})) }],
  ])('for %s', async (_what, card) => {
    expect(await verifyCard(card, { keys })).toMatchObject({ result: 'invalid' });
  });

  it('returns invalid for an extremely nested card', async () => {
    const deep = JSON.parse(`${'['.repeat(5e4)}${']'.repeat(5e4)}`) as unknown;
    expect(await verifyCard({ ...signed, deep }, { keys })).toMatchObject({ result: 'invalid' });
  });
});

describe('verifyCard forms', () => {
  const sparse = { ...plainCard, description: '', skills: [] };
  const signedOver = async (form: 1 | 2 | 3): Promise<WireCard> => ({
    ...sparse,
    signatures: (await forged({ kid: 'k1' }, await canonicalCard(sparse, form))).signatures,
  });

  it.each([1, 2, 3] as const)('accepts form %i with acceptSdkForms', async (form) => {
    expect(await verifyCard(await signedOver(form), { keys, acceptSdkForms: true })).toMatchObject({
      result: 'verified',
      form,
    });
  });

  it.each([2, 3] as const)('rejects form %i by default', async (form) => {
    expect(await verifyCard(await signedOver(form), { keys })).toMatchObject({ result: 'invalid' });
  });

  it('accepts form 1 with and without empty required fields on the wire', async () => {
    const { description: _empty, skills: _none, ...travelled } = await signedOver(1);
    expect(await verifyCard(travelled, { keys })).toMatchObject({ result: 'verified', form: 1 });
  });

  it('accepts form 1 of a signer that adds no required fields', async () => {
    const { signatures } = await forged({ kid: 'k1' }, '{"name":"Echo"}');
    expect(await verifyCard({ name: 'Echo', signatures }, { keys })).toMatchObject({ form: 1 });
  });
});
