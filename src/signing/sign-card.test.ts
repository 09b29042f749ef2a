import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { decodeProtectedHeader, generateKeyPair } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { createKeyPair, type KeyPair, plainCard } from '../../test/support/signing/signed-card.ts';
import { lenientMode } from '../dialects/translation-loss.ts';
import { v1_0 } from '../dialects/v1_0/index.ts';
import type { AgentCardSignature } from '../protocol/card.ts';
import { A2AError } from '../protocol/errors.ts';
import type { WireCard } from './canonical-card.ts';
import { signCard } from './sign-card.ts';
import { verifyCard } from './verify-card.ts';

let pair: KeyPair;
beforeAll(async () => {
  pair = await createKeyPair('ES256', 'k1');
});

const signaturesOf = (card: WireCard): AgentCardSignature[] => card.signatures as AgentCardSignature[];

describe('signCard', () => {
  it.each(['ES256', 'ES384', 'ES512', 'RS256', 'PS256', 'EdDSA', 'Ed25519'])(
    'creates a valid signature with %s',
    async (alg) => {
      const { privateKey, publicKey } = await createKeyPair(alg, 'k');
      const signed = await signCard(plainCard, { key: privateKey, kid: 'k', alg });
      expect(await verifyCard(signed, { keys: { k: publicKey } })).toMatchObject({
        result: 'verified',
        kid: 'k',
        alg,
        form: 1,
      });
    },
  );

  it.each([
    ['ec', { namedCurve: 'P-384' }, 'ES384'],
    ['rsa', { modulusLength: 2048 }, 'RS256'],
    ['ed25519', {}, 'EdDSA'],
  ])('detects the algorithm of an %s key from PEM', async (type, options, alg) => {
    const { privateKey } = generateKeyPairSync(type as 'ec', options as { namedCurve: string });
    const key = createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const signed = await signCard(plainCard, { key, kid: 'k' });
    const verdict = await verifyCard(signed, { keys: new Map([['k', createPublicKey(key)]]) });
    expect(verdict).toMatchObject({ result: 'verified', alg });
  });

  it.each(['ES256', 'ES512', 'RS512', 'PS384', 'EdDSA'])(
    'detects the algorithm of a WebCrypto key for %s',
    async (alg) => {
      const { privateKey, publicKey } = await generateKeyPair(alg);
      const signed = await signCard(plainCard, { key: privateKey, kid: 'k' });
      expect(await verifyCard(signed, { keys: { k: publicKey } })).toMatchObject({ result: 'verified', alg });
    },
  );

  it('writes a detached signature with alg, typ, kid and jku in the protected header', async () => {
    const jku = 'https://a.test/jwks.json';
    const [signature] = signaturesOf(await signCard(plainCard, { key: pair.privateKey, kid: 'k1', jku }));
    expect(Object.keys(signature ?? {})).toEqual(['protected', 'signature']);
    expect(decodeProtectedHeader(signature as object)).toEqual({
      alg: 'ES256',
      typ: 'JOSE',
      kid: 'k1',
      jku,
    });
  });

  it('signs the model such that the encoded card verifies', async () => {
    const card = v1_0.card.read(plainCard, lenientMode());
    const signed = await signCard(card, { key: pair.privateKey, kid: 'k1' });
    expect({ ...signed, signatures: undefined }).toEqual({ ...card, signatures: undefined });
    const wire = JSON.parse(JSON.stringify(v1_0.card.write(signed))) as WireCard;
    expect(await verifyCard(wire, { keys: { k1: pair.publicKey } })).toMatchObject({ result: 'verified' });
  });

  it('does not modify the card', async () => {
    const before = structuredClone(plainCard);
    await signCard(plainCard, { key: pair.privateKey, kid: 'k1' });
    expect(plainCard).toEqual(before);
  });

  it('retains signatures of other keys and replaces its own', async () => {
    const other = await createKeyPair('EdDSA', 'k2');
    const first = await signCard(plainCard, { key: pair.privateKey, kid: 'k1' });
    const second = await signCard(first, { key: other.privateKey, kid: 'k2' });
    const third = await signCard(second, { key: pair.privateKey, kid: 'k1' });
    const kids = signaturesOf(third).map((each) => decodeProtectedHeader(each).kid);
    expect(kids).toEqual(['k2', 'k1']);
  });
});

describe('signCard onDivergence', () => {
  const bare = { ...plainCard, description: '', skills: [], url: 'https://other.test' };

  it('rejects the card by default and names the fields', async () => {
    const thrown = await signCard(bare, { key: pair.privateKey, kid: 'k1' }).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(A2AError);
    expect(thrown).toMatchObject({
      reason: 'INVALID_PARAMS',
      violations: [
        { field: 'url', description: 'is not defined in 1.0' },
        { field: 'description', description: 'is empty' },
        { field: 'skills', description: 'is empty' },
      ],
      hint: expect.stringContaining("'both'") as string,
    });
  });

  it('signs once as specified with spec', async () => {
    const signed = await signCard(bare, { key: pair.privateKey, kid: 'k1', onDivergence: 'spec' });
    expect(signaturesOf(signed)).toHaveLength(1);
    expect(await verifyCard(signed, { keys: { k1: pair.publicKey } })).toMatchObject({ form: 1 });
  });

  it('signs twice with both, and once if the forms are equal', async () => {
    const options = { key: pair.privateKey, kid: 'k1', onDivergence: 'both' } as const;
    expect(signaturesOf(await signCard(bare, options))).toHaveLength(2);
    expect(signaturesOf(await signCard(plainCard, options))).toHaveLength(1);
  });
});

describe('signCard with invalid input', () => {
  const attempt = (options: object, card: WireCard = plainCard): Promise<unknown> =>
    signCard(card, { key: pair.privateKey, kid: 'k1', ...options });

  it.each([
    ['a symmetric algorithm', { alg: 'HS256' }, /^alg must be one of/],
    ['the algorithm none', { alg: 'none' }, /^alg must be one of/],
    ['a key without an algorithm', { key: { kty: 'oct', k: 'AAAA' } }, /^alg must be set/],
    ['a key of another type', { alg: 'RS256' }, /^key must be a private key for RS256/],
    ['an empty kid', { kid: '' }, /^kid must/],
    ['a jku without TLS', { jku: 'http://a.test/jwks.json' }, /^jku must be an https URL/],
  ])('%s', async (_what, options, message) => {
    await expect(attempt(options)).rejects.toThrow(message);
    await expect(attempt(options)).rejects.toBeInstanceOf(A2AError);
  });

  it('rejects a public key', async () => {
    await expect(attempt({ key: pair.publicKey })).rejects.toThrow(/^key must be a private key/);
  });

  it('rejects an invalid card and names the field', async () => {
    await expect(attempt({}, { ...plainCard, skills: 'echo' })).rejects.toThrow('skills must be an array');
  });

  it('rejects a text with a lone surrogate', async () => {
    await expect(attempt({}, { ...plainCard, name: '\ud800' })).rejects.toThrow('no canonical JSON');
  });
});
