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

describe('signing', () => {
  it.each(['ES256', 'ES384', 'ES512', 'RS256', 'PS256', 'EdDSA', 'Ed25519'])(
    'with %s gives a card that verifies',
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
  ])('knows the algorithm of an %s key of Node, here from PEM', async (type, options, alg) => {
    const { privateKey } = generateKeyPairSync(type as 'ec', options as { namedCurve: string });
    const key = createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const signed = await signCard(plainCard, { key, kid: 'k' });
    const verdict = await verifyCard(signed, { keys: new Map([['k', createPublicKey(key)]]) });
    expect(verdict).toMatchObject({ result: 'verified', alg });
  });

  it.each(['ES256', 'ES512', 'RS512', 'PS384', 'EdDSA'])(
    'knows the algorithm of a WebCrypto key for %s',
    async (alg) => {
      const { privateKey, publicKey } = await generateKeyPair(alg);
      const signed = await signCard(plainCard, { key: privateKey, kid: 'k' });
      expect(await verifyCard(signed, { keys: { k: publicKey } })).toMatchObject({ result: 'verified', alg });
    },
  );

  it('writes a detached signature with alg, typ, kid and jku protected', async () => {
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

  it('takes the model, and what the dialect writes of it verifies', async () => {
    const card = v1_0.card.read(plainCard, lenientMode());
    const signed = await signCard(card, { key: pair.privateKey, kid: 'k1' });
    expect({ ...signed, signatures: undefined }).toEqual({ ...card, signatures: undefined });
    const wire = JSON.parse(JSON.stringify(v1_0.card.write(signed))) as WireCard;
    expect(await verifyCard(wire, { keys: { k1: pair.publicKey } })).toMatchObject({ result: 'verified' });
  });

  it('does not change the card that it was given', async () => {
    const before = structuredClone(plainCard);
    await signCard(plainCard, { key: pair.privateKey, kid: 'k1' });
    expect(plainCard).toEqual(before);
  });

  it('keeps the signatures of other keys and replaces its own', async () => {
    const other = await createKeyPair('EdDSA', 'k2');
    const first = await signCard(plainCard, { key: pair.privateKey, kid: 'k1' });
    const second = await signCard(first, { key: other.privateKey, kid: 'k2' });
    const third = await signCard(second, { key: pair.privateKey, kid: 'k1' });
    const kids = signaturesOf(third).map((each) => decodeProtectedHeader(each).kid);
    expect(kids).toEqual(['k2', 'k1']);
  });
});

describe('signing a card that the official SDKs read otherwise', () => {
  const bare = { ...plainCard, description: '', skills: [], url: 'https://other.test' };

  it('is refused, with the fields and a hint', async () => {
    const thrown = await signCard(bare, { key: pair.privateKey, kid: 'k1' }).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(A2AError);
    expect(thrown).toMatchObject({
      reason: 'INVALID_PARAMS',
      violations: [
        { field: 'url', description: 'is not known to 1.0' },
        { field: 'description', description: 'is empty' },
        { field: 'skills', description: 'is empty' },
      ],
      hint: expect.stringContaining("'both'") as string,
    });
  });

  it('signs as the specification says when told so', async () => {
    const signed = await signCard(bare, { key: pair.privateKey, kid: 'k1', onDivergence: 'spec' });
    expect(signaturesOf(signed)).toHaveLength(1);
    expect(await verifyCard(signed, { keys: { k1: pair.publicKey } })).toMatchObject({ form: 1 });
  });

  it('signs twice when told so, and once if once is enough', async () => {
    const options = { key: pair.privateKey, kid: 'k1', divergent: 'both' } as const;
    expect(signaturesOf(await signCard(bare, options))).toHaveLength(2);
    expect(signaturesOf(await signCard(plainCard, options))).toHaveLength(1);
  });
});

describe('signing refuses', () => {
  const attempt = (options: object, card: WireCard = plainCard): Promise<unknown> =>
    signCard(card, { key: pair.privateKey, kid: 'k1', ...options });

  it.each([
    ['an algorithm of shared secrets', { alg: 'HS256' }, /^alg must be among/],
    ['no algorithm at all', { alg: 'none' }, /^alg must be among/],
    ['a key that says nothing', { key: { kty: 'oct', k: 'AAAA' } }, /^alg must be given/],
    ['a key of another kind', { alg: 'RS256' }, /^key cannot sign with RS256/],
    ['an empty kid', { kid: '' }, /^kid must/],
    ['a jku without TLS', { jku: 'http://a.test/jwks.json' }, /^jku must be an https address/],
  ])('%s', async (_what, options, message) => {
    await expect(attempt(options)).rejects.toThrow(message);
    await expect(attempt(options)).rejects.toBeInstanceOf(A2AError);
  });

  it('a public key', async () => {
    await expect(attempt({ key: pair.publicKey })).rejects.toThrow(/^key cannot sign/);
  });

  it('a card that no reader of 1.0 would take, and names the field', async () => {
    await expect(attempt({}, { ...plainCard, skills: 'echo' })).rejects.toThrow('skills must be a list');
  });

  it('a text that has no UTF-8', async () => {
    await expect(attempt({}, { ...plainCard, name: '\ud800' })).rejects.toThrow('no canonical JSON');
  });
});
