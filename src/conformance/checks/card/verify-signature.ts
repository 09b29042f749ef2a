import canonicalize from 'canonicalize';
import { base64url, flattenedVerify, importJWK, type JWK } from 'jose';
import { isJsonObject, type JsonObject, parseBoundedJson } from '../../../primitives/json.ts';

/**
 * Presence rule of each field before signing: `!` is always present, `?` if it was set, no mark if it differs from its
 * default. The name after the mark is the message type of the field; `*` marks a map of messages.
 */
type MessageFields = Readonly<Record<string, string>>;

const messages: Readonly<Record<string, MessageFields>> = {
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

/** Removes the fields that the presence rules omit; RFC 8785 is applied afterwards. */
function applyPresence(value: JsonObject, name: string): JsonObject {
  const fields = messages[name] ?? {};
  const retained = Object.entries(value).flatMap(([member, inner]): [string, unknown][] => {
    const field = Object.hasOwn(fields, member) ? fields[member] : undefined;
    // Fields that the protocol does not define are signed unchanged.
    if (field === undefined) return [[member, inner]];
    const [, mark, star, type] = /^([!?]?)(\*?)(\w*)$/.exec(field) ?? [];
    if (inner === null || (mark === '' && isDefault(inner, type ?? ''))) return [];
    return [[member, type ? applyNested(inner, type, star === '*') : inner]];
  });
  return Object.fromEntries(retained);
}

function applyNested(value: unknown, type: string, isMap: boolean): unknown {
  const each = (inner: unknown): unknown => (isJsonObject(inner) ? applyPresence(inner, type) : inner);
  if (Array.isArray(value)) return value.map(each);
  if (!isMap || !isJsonObject(value)) return each(value);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, each(inner)]));
}

/** An empty provider message is present if set; strings, booleans, lists and maps have defaults. */
function isDefault(value: unknown, type: string): boolean {
  if (value === '' || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0 && type !== 'provider';
}

/** Returns the payloads that a signer may have signed: the correct one, and those of known signer errors. */
export function possiblePayloads(
  card: JsonObject,
): { readonly text: string; readonly signerError: string | undefined }[] {
  const { signatures: _signatures, ...content } = card;
  const correct = canonicalize(applyPresence(content, 'card')) ?? '';
  const stripped = canonicalize(withoutEmpties(content) ?? {}) ?? '';
  const escape = (text: string): string =>
    text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return [
    { text: correct, signerError: undefined },
    { text: canonicalize(content) ?? '', signerError: 'fields with default values were included' },
    { text: stripped, signerError: 'empty required or explicitly set fields were omitted' },
    { text: escape(correct), signerError: 'non-ASCII characters were escaped' },
    {
      text: escape(stripped),
      signerError: 'empty fields were omitted and non-ASCII characters were escaped',
    },
    { text: JSON.stringify(content), signerError: 'RFC 8785 was not applied' },
    { text: JSON.stringify(content, null, 2), signerError: 'the JSON was signed with whitespace' },
    {
      text: JSON.stringify(applyPresence(content, 'card')),
      signerError: 'keys were not sorted as in RFC 8785',
    },
    { text: canonicalize(card) ?? '', signerError: 'the signatures were included' },
    {
      text: canonicalize({ ...content, signatures: [] }) ?? '',
      signerError: 'an empty list of signatures was included',
    },
  ];
}

function withoutEmpties(value: unknown): unknown {
  if (value === '' || value === null || value === undefined) return undefined;
  if (typeof value !== 'object') return value;
  const entries = Object.entries(value)
    .map(([name, inner]) => [name, withoutEmpties(inner)] as const)
    .filter(([, inner]) => inner !== undefined);
  if (entries.length === 0) return undefined;
  return Array.isArray(value) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries);
}

/** A public key of a JWKS. */
export type PublicJwk = JWK;

/** Parsed parts of a card signature. */
export interface CardSignatureParts {
  readonly protected: string;
  readonly signature: string;
  /** Decoded protected header; undefined if it is invalid. */
  readonly header: JsonObject | undefined;
}

/** Parses a card signature. @returns the reason as a string if it is invalid. */
export function parseSignature(raw: unknown): CardSignatureParts | string {
  if (!isJsonObject(raw)) return 'is not an object';
  const { protected: head, signature, header } = raw;
  if (typeof head !== 'string' || !isBase64url(head)) return 'has no protected header in base64url';
  if (typeof signature !== 'string' || !isBase64url(signature)) return 'has no signature in base64url';
  if (header !== undefined && !isJsonObject(header)) return 'has an unprotected header that is not an object';
  try {
    const decoded: unknown = parseBoundedJson(new TextDecoder().decode(base64url.decode(head)));
    return isJsonObject(decoded)
      ? { protected: head, signature, header: decoded }
      : 'has a protected header that is not a JSON object';
  } catch {
    return 'has a protected header that is not a JSON object';
  }
}

function isBase64url(text: string): boolean {
  return /^[\w-]+$/.test(text);
}

/**
 * Verifies a signature of a card with a key.
 *
 * @returns undefined if it is valid, else the error of the signer.
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
  for (const { text, signerError } of possiblePayloads(card)) {
    const payload = base64url.encode(text);
    try {
      await flattenedVerify({ protected: head, payload, signature }, key, { algorithms: [alg] });
      return signerError;
    } catch {
      // Try the next payload.
    }
  }
  return 'it was not created for this card';
}
