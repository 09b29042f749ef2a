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

/** A card signed with any header and over any text, by rules that are not ours. */
async function forged(header: object, text?: string, key: JWK = pair.privateKey): Promise<WireCard> {
  const payload = new TextEncoder().encode(text ?? (await canonicalCard(plainCard)));
  const jws = await new FlattenedSign(payload)
    .setProtectedHeader({ alg: 'ES256', ...header })
    .sign(key, { crit: { 'urn:odd': true } });
  return { ...plainCard, signatures: [{ protected: jws.protected, signature: jws.signature }] };
}

describe('a signed card', () => {
  it('is verified, and the verdict says by whom and what was covered', async () => {
    const verdict = await verifyCard(signed, { keys });
    expect(verdict).toEqual({
      result: 'verified',
      reason: 'signed by the key "k1"',
      kid: 'k1',
      alg: 'ES256',
      form: 1,
      card: plainCard,
    });
  });

  it('is verified after its keys were put in another order and its text was indented', async () => {
    const again = JSON.parse(JSON.stringify(reverseMembers(signed), null, 2)) as unknown;
    expect(await verifyCard(again, { keys })).toMatchObject({ result: 'verified' });
  });

  it.each(leafPaths(plainCard).map((path) => [path.join('.'), path] as const))(
    'is invalid once %s is another',
    async (_name, path) => {
      for (const interop of [false, true]) {
        expect(await verifyCard(tamperLeaf(signed, path), { keys, acceptSdkForms: interop })).toMatchObject({
          result: 'invalid',
          kid: 'k1',
        });
      }
    },
  );

  it.each(Object.keys(plainCard))('is invalid once %s is gone', async (name) => {
    const { [name]: _gone, ...rest } = signed;
    expect((await verifyCard(rest, { keys, acceptSdkForms: true })).result).toBe('invalid');
  });

  it('is invalid once a member is added that 1.0 does not know but an older reader does', async () => {
    const hybrid = { ...signed, url: 'https://evil.test', protocolVersion: '0.3.0' };
    expect(await verifyCard(hybrid, { keys })).toMatchObject({ result: 'invalid' });
  });

  it('vouches in interop mode only for what 1.0 knows', async () => {
    const hybrid = { ...signed, url: 'https://evil.test' };
    const { result, form, card } = await verifyCard(hybrid, { keys, acceptSdkForms: true });
    expect([result, form]).toEqual(['verified', 2]);
    expect(card).not.toHaveProperty('url');
  });

  it('is unverifiable by who does not know the key', async () => {
    expect(await verifyCard(signed, { keys: { k2: other.publicKey } })).toEqual({
      result: 'unverifiable',
      reason: 'the key "k1" is not known',
      kid: 'k1',
      alg: 'ES256',
    });
  });

  it('is invalid when another key bears the name', async () => {
    const { publicKey } = await createKeyPair('ES256', 'k1');
    expect(await verifyCard(signed, { keys: { k1: publicKey } })).toMatchObject({ result: 'invalid' });
  });

  it.each([
    ['no signatures', {}],
    ['an empty list', { signatures: [] }],
    ['null', { signatures: null }],
  ])('is absent with %s', async (_what, signatures) => {
    expect(await verifyCard({ ...plainCard, ...signatures }, { keys })).toMatchObject({ result: 'absent' });
  });
});

describe('keys', () => {
  it('rotate: a card with the old and the new signature serves both kinds of reader', async () => {
    const both = await signCard(signed, { key: other.privateKey, kid: 'k2' });
    expect(await verifyCard(both, { keys })).toMatchObject({ result: 'verified', kid: 'k1' });
    expect(await verifyCard(both, { jwks: { keys: [other.publicKey] } })).toMatchObject({
      result: 'verified',
      kid: 'k2',
    });
  });

  it('one valid signature among broken ones is enough, and a wrong one outweighs an unknown one', async () => {
    const [valid] = signed.signatures as object[];
    const wrong = { ...valid, signature: 'AAAA' };
    const [unknown] = (await forged({ kid: 'k9' })).signatures as object[];
    const cardWith = (...signatures: unknown[]): WireCard => ({ ...plainCard, signatures });
    expect((await verifyCard(cardWith(wrong, 7, null, {}, unknown, valid), { keys })).result).toBe(
      'verified',
    );
    expect((await verifyCard(cardWith(unknown, wrong), { keys })).result).toBe('invalid');
  });

  it('of the same name in a key set are all tried', async () => {
    const jwks = { keys: [{ ...other.publicKey, kid: 'k1' }, pair.publicKey] };
    expect(await verifyCard(signed, { jwks })).toMatchObject({ result: 'verified' });
  });

  it.each([
    ['expired', { exp: 1000 }],
    ['not yet valid', { nbf: 3000 }],
    ['revoked', { revoked: { revoked_at: 1500 } }],
  ])('that are %s are not used', async (_what, member) => {
    const jwks = { keys: [{ ...pair.publicKey, ...member }] };
    expect(await verifyCard(signed, { jwks, now: () => 2_000_000 })).toMatchObject({
      result: 'unverifiable',
      reason: 'the key "k1" is expired, not yet valid or revoked',
    });
    const timely = { keys: [{ ...pair.publicKey, nbf: 1999, exp: 2001, revoked: false }] };
    expect(await verifyCard(signed, { jwks: timely, now: () => 2_000_000 })).toMatchObject({
      result: 'verified',
    });
  });

  it('that are private, or of another kind, are not taken for public ones', async () => {
    for (const k1 of [pair.privateKey, other.publicKey, { kty: 'oct', k: 'AAAA' }]) {
      expect(await verifyCard(signed, { keys: { k1 } })).toMatchObject({
        result: 'invalid',
        reason: 'the key "k1" is not a public key for ES256',
      });
    }
  });

  it('are not found under the names that every object has', async () => {
    const card = await forged({ kid: 'constructor' });
    expect(await verifyCard(card, { keys: {} })).toMatchObject({ result: 'unverifiable' });
  });
});

describe('the address of a key set', () => {
  const jku = 'https://keys.test/set.json';
  const jwks = (): Promise<{ keys: JWK[] }> => Promise.resolve({ keys: [other.publicKey, pair.publicKey] });
  const pointing = (to: string): Promise<WireCard> => forged({ kid: 'k1', jku: to });

  it.each([[[jku]], [['https://keys.test']], [['https://else.test', 'https://keys.test/']]])(
    'is asked when %j allows it',
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
  ])('%s is not asked when %j is allowed', async (to, allowedJku) => {
    const fetchKey = vi.fn(jwks);
    const verdict = await verifyCard(await pointing(to), { fetchKey, allowedJku });
    expect(verdict.result).toBe('unverifiable');
    expect(verdict.reason).toContain('is not allowed');
    expect(fetchKey).not.toHaveBeenCalled();
  });

  it('is not asked for a key that is at hand', async () => {
    const fetchKey = vi.fn(jwks);
    const verdict = await verifyCard(await pointing('https://evil.test'), { keys, fetchKey });
    expect(verdict).toMatchObject({ result: 'verified' });
    expect(verdict).not.toHaveProperty('jku');
    expect(fetchKey).not.toHaveBeenCalled();
  });

  it('may be missing: then a directory of keys is asked by name alone', async () => {
    const fetchKey = vi.fn(() => Promise.resolve(pair.publicKey));
    expect(await verifyCard(signed, { fetchKey })).toMatchObject({ result: 'verified' });
    expect(fetchKey.mock.calls).toEqual([['k1', undefined]]);
  });

  it('that fails, has nothing, or lacks the key, leaves the card unverifiable', async () => {
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

describe('a signature is invalid', () => {
  it('with the algorithm none', async () => {
    const protectedHeader = base64url.encode('{"alg":"none","kid":"k1"}');
    const card = { ...plainCard, signatures: [{ protected: protectedHeader, signature: '' }] };
    expect(await verifyCard(card, { keys })).toEqual({
      result: 'invalid',
      reason: 'the algorithm "none" is not accepted',
    });
  });

  it('with HS256 and the public key as the secret', async () => {
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

  it('with an algorithm that the caller does not accept', async () => {
    expect(await verifyCard(signed, { keys, algorithms: ['EdDSA'] })).toMatchObject({ result: 'invalid' });
    expect(await verifyCard(signed, { keys, algorithms: ['ES256'] })).toMatchObject({ result: 'verified' });
  });

  it.each([
    ['one of somebody', { crit: ['urn:odd'], 'urn:odd': true }],
    ['b64', { crit: ['b64'], b64: true }],
  ])('with a critical header, such as %s', async (_what, header) => {
    expect(await verifyCard(await forged({ kid: 'k1', ...header }), { keys })).toMatchObject({
      result: 'invalid',
      reason: expect.stringContaining('critical') as string,
    });
  });

  it('without a kid that is protected, whatever the other header says', async () => {
    const card = await forged({});
    const [signature] = card.signatures as object[];
    const named = { ...card, signatures: [{ ...signature, header: { kid: 'k1' } }] };
    expect(await verifyCard(named, { keys })).toMatchObject({ result: 'invalid' });
  });

  it('when both headers say the same thing', async () => {
    const [signature] = signed.signatures as object[];
    const twice = { ...plainCard, signatures: [{ ...signature, header: { kid: 'k1' } }] };
    expect(await verifyCard(twice, { keys })).toMatchObject({ result: 'invalid' });
    const free = { ...plainCard, signatures: [{ ...signature, header: { note: 'hello' } }] };
    expect(await verifyCard(free, { keys })).toMatchObject({ result: 'verified' });
  });

  it.each([
    ['a card that is no object', null],
    ['a card that is a list', []],
    ['signatures that are no list', { ...plainCard, signatures: {} }],
    ['a header that is not base64', { ...plainCard, signatures: [{ protected: '%', signature: 'AA' }] }],
    ['a header that is no object', { ...plainCard, signatures: [{ protected: 'MQ', signature: 'AA' }] }],
    ['a header that is missing', { ...plainCard, signatures: [{ signature: 'AA' }] }],
    ['a lone surrogate', { ...plainCard, name: '\ud800', signatures: [{}] }],
    ['too many signatures', { ...plainCard, signatures: Array.from({ length: 17 }, () => ({})) }],
  ])('in %s', async (_what, card) => {
    expect(await verifyCard(card, { keys })).toMatchObject({ result: 'invalid' });
  });

  it('in a card that is nested beyond measure', async () => {
    const deep = JSON.parse(`${'['.repeat(5e4)}${']'.repeat(5e4)}`) as unknown;
    expect(await verifyCard({ ...signed, deep }, { keys })).toMatchObject({ result: 'invalid' });
  });
});

describe('the forms of other signers', () => {
  const sparse = { ...plainCard, description: '', skills: [] };
  const signedOver = async (form: 1 | 2 | 3): Promise<WireCard> => ({
    ...sparse,
    signatures: (await forged({ kid: 'k1' }, await canonicalCard(sparse, form))).signatures,
  });

  it.each([1, 2, 3] as const)('form %i is understood in interop mode', async (form) => {
    expect(await verifyCard(await signedOver(form), { keys, acceptSdkForms: true })).toMatchObject({
      result: 'verified',
      form,
    });
  });

  it.each([2, 3] as const)('form %i is not understood otherwise', async (form) => {
    expect(await verifyCard(await signedOver(form), { keys })).toMatchObject({ result: 'invalid' });
  });

  it('form 1 holds whether required fields that are empty travel or not', async () => {
    const { description: _empty, skills: _none, ...travelled } = await signedOver(1);
    expect(await verifyCard(travelled, { keys })).toMatchObject({ result: 'verified', form: 1 });
  });

  it('form 1 holds for a signer that adds no required fields', async () => {
    const { signatures } = await forged({ kid: 'k1' }, '{"name":"Echo"}');
    expect(await verifyCard({ name: 'Echo', signatures }, { keys })).toMatchObject({ form: 1 });
  });
});
