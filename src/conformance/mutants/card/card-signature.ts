import { generateKeyPairSync, sign } from 'node:crypto';
import { signCard } from '../../../signing/sign-card.ts';
import { possiblePayloads } from '../../checks/card/verify-signature.ts';
import type { JsonObject } from '../../../primitives/json.ts';
import { A2AError } from '../../../protocol/errors.ts';
import { mutateCard1_0 } from './card.ts';
import { type MutantAgent, type WireMutation, mutant } from '../harness/mutant-agent.ts';
import { wireJsonResponse } from '../harness/wire-responses.ts';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const otherKeys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const keySet = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'key-1', alg: 'ES256', use: 'sig' }] };

const encodeJson = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Deviations from a correct signature. */
interface SigningMutation {
  readonly header?: JsonObject;
  /** Returns the text to sign. */
  readonly payload?: (card: JsonObject) => string;
  readonly key?: typeof privateKey;
  /** Changes the card after signing. */
  readonly after?: (card: JsonObject) => void;
  readonly signature?: (signature: JsonObject) => unknown;
}

/** Adds empty values of every type, because canonicalization treats them differently. */
function addEmptyValues(card: JsonObject): void {
  Object.assign(card, { description: '', securityRequirements: [], iconUrl: '' });
  Object.assign(card.capabilities as JsonObject, { extensions: [], extendedAgentCard: false });
  card.name = 'Fixtures – é';
}

const correctPayload = (card: JsonObject): string => possiblePayloads(card)[0]?.text ?? '';
const wrongPayload =
  (signerError: RegExp) =>
  (card: JsonObject): string => {
    const payload = possiblePayloads(card).find((each) => signerError.test(each.signerError ?? ''));
    if (!payload) throw new A2AError('INTERNAL_ERROR', `No payload with the error ${signerError}`);
    return payload.text;
  };

function signCardWith(mutation: SigningMutation): WireMutation {
  const { header = {}, payload = correctPayload, key = privateKey, after, signature } = mutation;
  let origin = '';
  return {
    ...mutateCard1_0((card) => {
      addEmptyValues(card);
      const head = encodeJson({
        alg: 'ES256',
        typ: 'JOSE',
        kid: 'key-1',
        jku: `${origin}/keys.json`,
        ...header,
      });
      const text = Buffer.from(payload(card)).toString('base64url');
      const bytes = sign('sha256', Buffer.from(`${head}.${text}`), { key, dsaEncoding: 'ieee-p1363' });
      const entry = { protected: head, signature: bytes.toString('base64url') };
      card.signatures = [signature?.(entry) ?? entry];
      after?.(card);
    }),
    request({ path, headers }) {
      origin = `http://${headers.host}`;
      return /\/(keys|jwks)\.json$/.test(path) ? keySetResponse : undefined;
    },
  };
}

const keySetResponse = wireJsonResponse(200, keySet);

function signatureMutant(id: string, description: string, mutation: SigningMutation): MutantAgent {
  return mutant(id, description, { transports: ['JSONRPC'], wire: () => signCardWith(mutation) });
}

/** Correct agents with signed cards: one signed by `signCard`, one with many empty values. */
export const signedVariants: Readonly<Record<string, Partial<MutantAgent>>> = {
  'with a signed card': {
    server: { signCard: (card) => signCard(card, { key: privateKey, kid: 'key-1', onDivergence: 'spec' }) },
    wire: () => ({
      request: ({ path }) => (path.endsWith('/.well-known/jwks.json') ? keySetResponse : undefined),
    }),
  },
  'with a signed card and a key set': { wire: () => signCardWith({}) },
};

/** Mutants of card signatures. */
export const cardSignatureMutants: readonly MutantAgent[] = [
  signatureMutant('signature.verifies:changed', 'The card was changed after signing.', {
    after: (card) => {
      card.version = '9.9.9';
    },
  }),
  signatureMutant('signature.verifies:other-key', 'The card was signed with another key.', {
    key: otherKeys.privateKey,
  }),
  signatureMutant('signature.verifies:defaults', 'Default values were signed.', {
    payload: wrongPayload(/default values/),
  }),
  signatureMutant('signature.verifies:stripped', 'Empty required values were omitted.', {
    payload: wrongPayload(/^empty required/),
  }),
  signatureMutant('signature.verifies:unsorted', 'Keys were not sorted.', {
    payload: wrongPayload(/^RFC 8785 was not applied/),
  }),
  signatureMutant('signature.verifies:spaces', 'The signed text has white space.', {
    payload: wrongPayload(/whitespace/),
  }),
  signatureMutant('signature.verifies:escaped', 'Characters outside of ASCII were escaped.', {
    payload: wrongPayload(/^non-ASCII/),
  }),
  signatureMutant('signature.verifies:itself', 'An empty array of signatures was signed.', {
    payload: wrongPayload(/empty list of signatures/),
  }),
  signatureMutant('signature.verifies:garbled', 'Another text was signed.', { payload: () => 'hello' }),
  signatureMutant('signature.alg:none', 'The algorithm is none.', { header: { alg: 'none' } }),
  signatureMutant('signature.alg:missing', 'The algorithm is missing.', { header: { alg: undefined } }),
  signatureMutant('signature.kid:missing', 'The key id is missing.', { header: { kid: undefined } }),
  signatureMutant('signature.typ:jwt', 'The type is JWT.', { header: { typ: 'JWT' } }),
  signatureMutant('signature.jku:plain', 'The URL of the key set is not encrypted.', {
    header: { jku: 'http://keys.example.invalid/keys.json' },
  }),
  signatureMutant('signature.key:other', 'The key is not in the key set.', { header: { kid: 'key-2' } }),
  signatureMutant('signature.key:unknown', 'The key is in no key set, and the header names none.', {
    header: { kid: 'key-2', jku: undefined },
    key: otherKeys.privateKey,
  }),
  signatureMutant('signature.format:payload', 'A signature has no protected header.', {
    signature: ({ signature }) => ({ header: { alg: 'ES256' }, signature }),
  }),
  signatureMutant('signature.format:base64', 'A signature is in base64 with padding.', {
    signature: (entry) => ({ ...entry, signature: `${String(entry.signature).slice(0, -2)}+/==` }),
  }),
  signatureMutant('signature.format:compact', 'A signature has the compact serialization.', {
    signature: ({ protected: head, signature }) => `${String(head)}..${String(signature)}`,
  }),
];
