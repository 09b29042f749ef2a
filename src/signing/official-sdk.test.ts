import * as fc from 'fast-check';
import * as sdk from 'sdk-1.3';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as any from '../../test/arbitraries.ts';
import {
  createKeyPair,
  type KeyPair,
  plainCard,
  reverseMembers,
} from '../../test/support/signing/signed-card.ts';
import { v1_0 } from '../dialects/v1_0/index.ts';
import { canonicalCard, type WireCard } from './canonical-card.ts';
import { signCard } from './sign-card.ts';
import { verifyCard } from './verify-card.ts';

const throughText = (value: unknown): WireCard => JSON.parse(JSON.stringify(value)) as WireCard;

let pair: KeyPair;
beforeAll(async () => {
  // The SDK prints every signature that does not match.
  vi.spyOn(console, 'debug').mockImplementation(() => {});
  pair = await createKeyPair('ES256', 'k1');
});
afterAll(() => {
  vi.restoreAllMocks();
});

/** Signs the JSON of a card with the official SDK. */
async function sdkSigned(card: WireCard): Promise<WireCard> {
  const sign = sdk.generateAgentCardSignature(pair.privateKey, { alg: 'ES256', kid: 'k1', typ: 'JOSE' });
  return throughText(await sign(card as unknown as sdk.AgentCard));
}

/** Returns true if the official SDK verifies a card, given as JSON or in its model. */
async function sdkVerifies(card: unknown): Promise<boolean> {
  const verify = sdk.verifyAgentCardSignature((kid) =>
    kid === 'k1' ? Promise.resolve(pair.publicKey) : Promise.reject(new Error('unknown')),
  );
  return verify(card as sdk.AgentCard).then(
    () => true,
    () => false,
  );
}

/** A card without security schemes, because the model of the SDK loses them in the payload. */
const { securitySchemes: _schemes, securityRequirements: _requirements, ...openCard } = plainCard;

describe('official SDK', () => {
  it('verifies cards signed by signCard', async () => {
    const signed = throughText(await signCard(plainCard, { key: pair.privateKey, kid: 'k1' }));
    expect(await sdkVerifies(signed)).toBe(true);
    expect(await sdkVerifies({ ...signed, name: 'Another' })).toBe(false);
  });

  it('verifies cards signed by signCard in its model', async () => {
    const signed = throughText(await signCard(openCard, { key: pair.privateKey, kid: 'k1' }));
    expect(await sdkVerifies(sdk.AgentCard.fromJSON(signed))).toBe(true);
  });

  it('signs cards that verifyCard accepts as form 1 without empty values', async () => {
    const signed = await sdkSigned(plainCard);
    expect(await verifyCard(signed, { keys: { k1: pair.publicKey } })).toMatchObject({ form: 1 });
    const tampered = { ...signed, version: '4' };
    expect(await verifyCard(tampered, { keys: { k1: pair.publicKey }, acceptSdkForms: true })).toMatchObject({
      result: 'invalid',
    });
  });

  it('signs its model such that verifyCard accepts the published card', async () => {
    const sign = sdk.generateAgentCardSignature(pair.privateKey, { alg: 'ES256', kid: 'k1', typ: 'JOSE' });
    const signed = await sign(sdk.AgentCard.fromJSON(openCard));
    const published = throughText(sdk.AgentCard.toJSON(signed));
    expect(await verifyCard(published, { keys: { k1: pair.publicKey } })).toMatchObject({
      result: 'verified',
    });
  });

  it('leaves security schemes of its model unsigned, which verifyCard rejects', async () => {
    const sign = sdk.generateAgentCardSignature(pair.privateKey, { alg: 'ES256', kid: 'k1', typ: 'JOSE' });
    const published = throughText(sdk.AgentCard.toJSON(await sign(sdk.AgentCard.fromJSON(plainCard))));
    expect(published).toHaveProperty('securitySchemes.login');
    expect(await verifyCard(published, { keys: { k1: pair.publicKey }, acceptSdkForms: true })).toMatchObject(
      {
        result: 'invalid',
      },
    );
  });

  it('needs acceptSdkForms and onDivergence both for empty values', async () => {
    const bare = { ...plainCard, description: '', securityRequirements: [{ schemes: { login: {} } }] };
    const theirs = await sdkSigned(bare);
    expect(await verifyCard(theirs, { keys: { k1: pair.publicKey } })).toMatchObject({ result: 'invalid' });
    expect(await verifyCard(theirs, { keys: { k1: pair.publicKey }, acceptSdkForms: true })).toMatchObject({
      result: 'verified',
      form: 2,
    });
    const options = { key: pair.privateKey, kid: 'k1' };
    expect(await sdkVerifies(await signCard(bare, { ...options, onDivergence: 'spec' }))).toBe(false);
    expect(await sdkVerifies(await signCard(bare, { ...options, onDivergence: 'both' }))).toBe(true);
  });
});

describe('arbitrary cards', () => {
  // The official SDK loses a member with this name.
  const withoutLoss = any.card.filter((card) => !JSON.stringify(card).includes('"__proto__":'));

  it('returns the same form 2 as the official SDK', async () => {
    await fc.assert(
      fc.asyncProperty(withoutLoss, async (card) => {
        const wire = throughText(v1_0.card.write(card));
        expect(await canonicalCard(wire, 2)).toBe(
          sdk.canonicalizeAgentCard(wire as unknown as sdk.AgentCard),
        );
      }),
      { numRuns: 200 },
    );
  });

  it('keeps a member that the official SDK loses, so that it is signed', async () => {
    const authorizationCode = JSON.parse('{"scopes":{"__proto__":"x"}}') as object;
    const securitySchemes = { login: { oauth2SecurityScheme: { flows: { authorizationCode } } } };
    const wire = { ...throughText(plainCard), securitySchemes };
    expect(await canonicalCard(wire, 2)).toContain('"scopes":{"__proto__":"x"}');
    expect(sdk.canonicalizeAgentCard(wire as unknown as sdk.AgentCard)).not.toContain('__proto__');
  });

  it('verifies cards after signing, reordering and parsing', async () => {
    await fc.assert(
      fc.asyncProperty(any.card, async (card) => {
        const signed = await signCard(card, { key: pair.privateKey, kid: 'k1', onDivergence: 'spec' });
        const travelled = throughText(reverseMembers(throughText(v1_0.card.write(signed))));
        const verdict = await verifyCard(travelled, { keys: { k1: pair.publicKey } });
        expect(verdict.result).toBe('verified');
        const otherwise = { ...travelled, name: `${card.name}!` };
        expect((await verifyCard(otherwise, { keys: { k1: pair.publicKey } })).result).toBe('invalid');
      }),
      { numRuns: 100 },
    );
  });

  it('signs with onDivergence both so that the official SDK verifies the card', async () => {
    await fc.assert(
      fc.asyncProperty(withoutLoss, async (card) => {
        const signed = await signCard(card, { key: pair.privateKey, kid: 'k1', onDivergence: 'both' });
        expect(await sdkVerifies(throughText(v1_0.card.write(signed)))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});
