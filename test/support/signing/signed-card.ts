import { exportJWK, generateKeyPair, type JWK } from 'jose';
import type { WireCard } from '../../../src/signing/canonical-card.ts';

/** A 1.0 card with values of every type, unsorted keys and no empty values. */
export const plainCard: WireCard = {
  version: '3.1',
  name: 'Écho – 回声 🪞',
  description: 'Says "it" back\nand\tagain',
  supportedInterfaces: [
    { url: 'https://a.test/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: 'blue' },
    { protocolVersion: '1.0', protocolBinding: 'HTTP+JSON', url: 'https://a.test/rest' },
  ],
  provider: { organization: 'Müller & Söhne', url: 'https://mueller.test' },
  documentationUrl: 'https://a.test/docs',
  iconUrl: 'https://a.test/icon.png',
  capabilities: {
    streaming: true,
    pushNotifications: false,
    extendedAgentCard: false,
    extensions: [
      {
        uri: 'https://a.test/ext',
        description: 'An extension',
        required: true,
        params: { zeta: 1e21, alpha: 0.000001, half: 0.5, '\u{1f600}': 1, '\ufb33': [1, true] },
      },
    ],
  },
  securitySchemes: {
    login: {
      oauth2SecurityScheme: {
        flows: {
          authorizationCode: {
            authorizationUrl: 'https://login.test/authorize',
            tokenUrl: 'https://login.test/token',
            scopes: { read: 'Reads' },
            pkceRequired: true,
          },
        },
      },
    },
  },
  securityRequirements: [{ schemes: { login: { list: ['read'] } } }],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain', 'application/json'],
  skills: [{ id: 'echo', name: 'Echo', description: 'Echoes', tags: ['demo'], examples: ['hello'] }],
};

/** A key pair as JWKs; the public key has a `kid`. */
export interface KeyPair {
  privateKey: JWK;
  publicKey: JWK & { kid: string };
}

export async function createKeyPair(alg: string, kid: string): Promise<KeyPair> {
  const pair = await generateKeyPair(alg, { extractable: true });
  return {
    privateKey: await exportJWK(pair.privateKey),
    publicKey: { ...(await exportJWK(pair.publicKey)), kid },
  };
}

/** Returns the same JSON with the members of all objects in reverse order. */
export function reverseMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reverseMembers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, each]) => [name, reverseMembers(each)] as const)
      .toReversed(),
  );
}

/** Returns the paths of all primitive values, each as a list of keys. */
export function leafPaths(value: unknown, at: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [[...at]];
  return Object.entries(value).flatMap(([key, each]) => leafPaths(each, [...at, key]));
}

/** Returns a copy with one changed leaf. */
export function tamperLeaf(card: WireCard, path: readonly string[]): WireCard {
  const copy = structuredClone(card);
  let parent = copy as { [key: string]: unknown };
  for (const key of path.slice(0, -1)) parent = parent[key] as typeof parent;
  const last = path.at(-1) as string;
  const old = parent[last];
  parent[last] = typeof old === 'boolean' ? !old : typeof old === 'number' ? old * 2 : `${String(old)}x`;
  return copy;
}
