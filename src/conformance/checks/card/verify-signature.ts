import canonicalize from 'canonicalize';
import { base64url, flattenedVerify, importJWK, type JWK } from 'jose';
import { isJsonObject, type JsonObject } from '../../../primitives/json.ts';

/**
 * How each field of a message is treated before it is signed: `!` is always there, `?` where it was set, nothing unless
 * it is its default. The name after it is the message that it holds; `*` says that it is a map of them.
 */
type Message = Readonly<Record<string, string>>;

const messages: Readonly<Record<string, Message>> = {
  card: {
    name: '!',
    description: '!',
    supportedInterfaces: '!interface',
    provider: 'provider',
    version: '!',
    documentationUrl: '?',
    capabilities: '!capabilities',
    securitySchemes: '*scheme',
    securityRequirements: 'requirement',
    defaultInputModes: '!',
    defaultOutputModes: '!',
    skills: '!skill',
    iconUrl: '?',
  },
  interface: { url: '!', protocolBinding: '!', protocolVersion: '!', tenant: '' },
  provider: { url: '!', organization: '!' },
  capabilities: { streaming: '?', pushNotifications: '?', extendedAgentCard: '?', extensions: 'extension' },
  extension: { uri: '', description: '', required: '', params: '?' },
  skill: {
    id: '!',
    name: '!',
    description: '!',
    tags: '!',
    examples: '',
    inputModes: '',
    outputModes: '',
    securityRequirements: 'requirement',
  },
  requirement: { schemes: '*scopes' },
  scopes: { list: '' },
  scheme: {
    apiKeySecurityScheme: '?apiKey',
    httpAuthSecurityScheme: '?http',
    oauth2SecurityScheme: '?oauth2',
    openIdConnectSecurityScheme: '?oidc',
    mtlsSecurityScheme: '?mtls',
  },
  apiKey: { description: '', location: '!', name: '!' },
  http: { description: '', scheme: '!', bearerFormat: '' },
  oauth2: { description: '', flows: '!flows', oauth2MetadataUrl: '' },
  oidc: { description: '', openIdConnectUrl: '!' },
  mtls: { description: '' },
  flows: {
    authorizationCode: '?code',
    clientCredentials: '?client',
    implicit: '?old',
    password: '?old',
    deviceCode: '?device',
  },
  code: { authorizationUrl: '!', tokenUrl: '!', refreshUrl: '', scopes: '!', pkceRequired: '' },
  client: { tokenUrl: '!', refreshUrl: '', scopes: '!' },
  device: { deviceAuthorizationUrl: '!', tokenUrl: '!', refreshUrl: '', scopes: '!' },
  old: { authorizationUrl: '', tokenUrl: '', refreshUrl: '', scopes: '' },
};

/** A card as it is before RFC 8785 is applied: without signatures, and without what the presence rules leave out. */
function present(value: JsonObject, name: string): JsonObject {
  const fields = messages[name] ?? {};
  const kept = Object.entries(value).flatMap(([member, inner]): [string, unknown][] => {
    const field = Object.hasOwn(fields, member) ? fields[member] : undefined;
    // Nothing is said of what the protocol does not know; it is signed as it is.
    if (field === undefined) return [[member, inner]];
    const [, mark, star, of] = /^([!?]?)(\*?)(\w*)$/.exec(field) ?? [];
    if (inner === null || (mark === '' && isDefault(inner, of ?? ''))) return [];
    return [[member, of ? within(inner, of, star === '*') : inner]];
  });
  return Object.fromEntries(kept);
}

function within(value: unknown, of: string, isMap: boolean): unknown {
  const each = (inner: unknown): unknown => (isJsonObject(inner) ? present(inner, of) : inner);
  if (Array.isArray(value)) return value.map(each);
  if (!isMap || !isJsonObject(value)) return each(value);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, each(inner)]));
}

/** A message that is set is there, however empty; texts, flags, lists and maps have defaults. */
function isDefault(value: unknown, of: string): boolean {
  if (value === '' || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0 && of !== 'provider';
}

/** The texts that a signer may have signed: the right one, and those that signers are known to take for it. */
export function possiblePayloads(
  card: JsonObject,
): { readonly text: string; readonly mistake: string | undefined }[] {
  const { signatures: _signatures, ...content } = card;
  const right = canonicalize(present(content, 'card')) ?? '';
  const stripped = canonicalize(withoutEmpties(content) ?? {}) ?? '';
  const escaped = (text: string): string =>
    text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return [
    { text: right, mistake: undefined },
    { text: canonicalize(content) ?? '', mistake: 'fields with default values were signed as well' },
    { text: stripped, mistake: 'empty fields that are required or were set were left out' },
    { text: escaped(right), mistake: 'characters outside ASCII were escaped' },
    { text: escaped(stripped), mistake: 'empty fields were left out and characters outside ASCII escaped' },
    { text: JSON.stringify(content), mistake: 'the JSON was signed as it is written, without RFC 8785' },
    { text: JSON.stringify(content, null, 2), mistake: 'the JSON was signed with white space' },
    { text: JSON.stringify(present(content, 'card')), mistake: 'keys were not sorted as RFC 8785 says' },
    { text: canonicalize(card) ?? '', mistake: 'the signatures were signed as well' },
    {
      text: canonicalize({ ...content, signatures: [] }) ?? '',
      mistake: 'an empty list of signatures was signed as well',
    },
  ];
}

function withoutEmpties(value: unknown): unknown {
  if (value === '' || value === null || value === undefined) return undefined;
  if (typeof value !== 'object') return value;
  const left = Object.entries(value)
    .map(([name, inner]) => [name, withoutEmpties(inner)] as const)
    .filter(([, inner]) => inner !== undefined);
  if (left.length === 0) return undefined;
  return Array.isArray(value) ? left.map(([, inner]) => inner) : Object.fromEntries(left);
}

/** A public key, as it is published. */
export type PublicJwk = JWK;

/** A signature of a card, taken apart. */
export interface CardSignatureParts {
  readonly protected: string;
  readonly signature: string;
  /** The protected header; undefined where it cannot be read. */
  readonly header: JsonObject | undefined;
}

/** Takes a signature apart. @returns what is wrong where it is none. */
export function parseSignature(raw: unknown): CardSignatureParts | string {
  if (!isJsonObject(raw)) return 'is no object';
  const { protected: head, signature, header } = raw;
  if (typeof head !== 'string' || !isBase64url(head)) return 'has no protected header in base64url';
  if (typeof signature !== 'string' || !isBase64url(signature)) return 'has no signature in base64url';
  if (header !== undefined && !isJsonObject(header)) return 'has an unprotected header that is no object';
  try {
    const read: unknown = JSON.parse(new TextDecoder().decode(base64url.decode(head)));
    return isJsonObject(read)
      ? { protected: head, signature, header: read }
      : 'has a protected header that is no JSON object';
  } catch {
    return 'has a protected header that is no JSON object';
  }
}

function isBase64url(text: string): boolean {
  return /^[\w-]+$/.test(text);
}

/**
 * Verifies a signature of a card with a key.
 *
 * @returns undefined when it holds, or what the signer did wrong.
 */
export async function signatureProblem(
  card: JsonObject,
  { protected: head, signature, header }: CardSignatureParts,
  jwk: PublicJwk,
): Promise<string | undefined> {
  const alg = String(header?.alg);
  let key: Awaited<ReturnType<typeof importJWK>>;
  try {
    key = await importJWK(jwk, alg);
  } catch {
    return `the published key cannot be used with ${alg}`;
  }
  for (const { text, mistake } of possiblePayloads(card)) {
    const payload = base64url.encode(text);
    try {
      await flattenedVerify({ protected: head, payload, signature }, key, { algorithms: [alg] });
      return mistake;
    } catch {
      // The next text may be the one.
    }
  }
  return 'it does not belong to this card';
}
