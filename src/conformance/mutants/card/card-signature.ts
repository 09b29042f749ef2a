import { generateKeyPairSync, sign } from 'node:crypto';
import { signCard } from '../../../signing/sign-card.ts';
import { possiblePayloads } from '../../checks/card/verify-signature.ts';
import type { MutableJson } from '../harness/mutations.ts';
import { type MutantAgent, defineMutants, type WireMutation } from '../harness/mutant-agent.ts';
import { mutateCard1_0 } from './card.ts';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const keys = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'key-1', alg: 'ES256', use: 'sig' }] };

const asText = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** How a card is signed, where it is not signed well. */
interface Signing {
  readonly header?: MutableJson;
  /** The text that is signed. */
  readonly payload?: (card: MutableJson) => string;
  readonly key?: typeof privateKey;
  /** Changes the card after it was signed. */
  readonly after?: (card: MutableJson) => void;
  readonly signature?: (signature: MutableJson) => unknown;
}

/** Empty values of every kind, so that the rules of presence have something to say. */
function withEmpties(card: MutableJson): void {
  Object.assign(card, { description: '', securityRequirements: [], iconUrl: '' });
  Object.assign(card.capabilities as MutableJson, { extensions: [], extendedAgentCard: false });
  card.name = 'Fixtures – é';
}

const right = (card: MutableJson): string => possiblePayloads(card)[0]?.text ?? '';
const mistaken =
  (mistake: RegExp) =>
  (card: MutableJson): string =>
    possiblePayloads(card).find((each) => mistake.test(each.mistake ?? ''))?.text ?? '';

function signing({
  header = {},
  payload = right,
  key = privateKey,
  after,
  signature,
}: Signing): WireMutation {
  let origin = '';
  return {
    ...mutateCard1_0((card) => {
      withEmpties(card);
      const head = asText({ alg: 'ES256', typ: 'JOSE', kid: 'key-1', jku: `${origin}/keys.json`, ...header });
      const text = Buffer.from(payload(card)).toString('base64url');
      const made = sign('sha256', Buffer.from(`${head}.${text}`), { key, dsaEncoding: 'ieee-p1363' });
      const entry = { protected: head, signature: made.toString('base64url') };
      card.signatures = [signature?.(entry) ?? entry];
      after?.(card);
    }),
    request({ path, headers }) {
      origin = `http://${headers.host}`;
      return path.endsWith('/keys.json') ? published : undefined;
    },
  };
}

const published = {
  status: 200,
  headers: { 'content-type': 'application/json' },
  text: JSON.stringify(keys),
  json: undefined,
};

/** A broken agent in one line: the rule, how, what, and how it signs. */
function signs(breaks: string, how: string, what: string, manner: Signing): MutantAgent {
  return {
    id: `${breaks}:${how}`,
    violates: breaks,
    description: what,
    versions: ['1.0'],
    transports: ['JSONRPC'],
    wire: () => signing(manner),
  };
}

/** The correct agent with a card that is signed by the signer of this project, and with one that is full of empty values. */
export const signedVariants: Readonly<Record<string, Partial<MutantAgent>>> = {
  'with a signed card': {
    server: { signCard: (card) => signCard(card, { key: privateKey, kid: 'key-1', onDivergence: 'spec' }) },
    wire: () => ({
      request: ({ path }) => (path.endsWith('/.well-known/jwks.json') ? published : undefined),
    }),
  },
  'with a signed card and a key set': { wire: () => signing({}) },
};

/** Agents whose cards are signed wrongly. */
export const cardSignatureMutants = defineMutants([
  signs('signature.verifies', 'changed', 'The card was changed after it was signed.', {
    after: (card) => {
      card.version = '9.9.9';
    },
  }),
  signs('signature.verifies', 'stranger', 'The card was signed with another key.', {
    key: stranger.privateKey,
  }),
  signs('signature.verifies', 'defaults', 'Default values were signed.', {
    payload: mistaken(/default values/),
  }),
  signs('signature.verifies', 'stripped', 'Required values that are empty were left out.', {
    payload: mistaken(/^empty fields that are required/),
  }),
  signs('signature.verifies', 'unsorted', 'Keys were not sorted.', { payload: mistaken(/as it is written/) }),
  signs('signature.verifies', 'spaces', 'The signed text has white space.', {
    payload: mistaken(/white space/),
  }),
  signs('signature.verifies', 'escaped', 'Letters outside ASCII were escaped.', {
    payload: mistaken(/^characters outside/),
  }),
  signs('signature.verifies', 'itself', 'An empty list of signatures was signed as well.', {
    payload: mistaken(/empty list of signatures/),
  }),
  signs('signature.verifies', 'garbled', 'The signature is of another text.', { payload: () => 'hello' }),
  signs('signature.alg', 'none', 'The algorithm is none.', { header: { alg: 'none' } }),
  signs('signature.alg', 'missing', 'There is no algorithm.', { header: { alg: undefined } }),
  signs('signature.kid', 'missing', 'The key has no name.', { header: { kid: undefined } }),
  signs('signature.typ', 'jwt', 'The type is JWT.', { header: { typ: 'JWT' } }),
  signs('signature.jku', 'plain', 'The keys are at an address without encryption.', {
    header: { jku: 'http://keys.example.invalid/keys.json' },
  }),
  signs('signature.key', 'other', 'The key is not in the set.', { header: { kid: 'key-2' } }),
  signs('signature.format', 'payload', 'A signature has no protected header.', {
    signature: ({ signature }) => ({ header: { alg: 'ES256' }, signature }),
  }),
  signs('signature.format', 'base64', 'A signature is in base64 with padding.', {
    signature: (entry) => ({ ...entry, signature: `${String(entry.signature).slice(0, -2)}+/==` }),
  }),
  signs('signature.format', 'compact', 'A signature is a compact text.', {
    signature: ({ protected: head, signature }) => `${String(head)}..${String(signature)}`,
  }),
]);
