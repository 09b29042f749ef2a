import type { CryptoKey, JWK, KeyObject } from 'jose';
import { invalidField } from '../protocol/errors.ts';

/** A key that jose accepts: WebCrypto, Node.js or JWK. */
export type SigningKey = CryptoKey | KeyObject | JWK;

/** Asymmetric algorithms accepted by default. */
export const cardAlgorithms: readonly string[] = [
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
];

/** Rejects symmetric algorithms and `none`: verifiers could create signatures. */
export function checkAlgorithms(algorithms: readonly string[], at: string): readonly string[] {
  const unsafe = algorithms.find((each) => !cardAlgorithms.includes(each));
  if (unsafe !== undefined) {
    throw invalidField(at, `must be one of ${cardAlgorithms.join(', ')}, not ${JSON.stringify(unsafe)}`);
  }
  return algorithms;
}

const byCurve: { readonly [curve: string]: string } = {
  'P-256': 'ES256',
  'P-384': 'ES384',
  'P-521': 'ES512',
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
  Ed25519: 'EdDSA',
};

/** Returns the default algorithm of a key; undefined if the key does not determine it. */
export function algorithmOf(key: SigningKey): string | undefined {
  if ('asymmetricKeyType' in key) return ofKeyObject(key as KeyObject & { asymmetricKeyDetails?: Details });
  if ('usages' in key) return ofCryptoKey((key as CryptoKey & { algorithm: WebAlgorithm }).algorithm);
  const { alg, kty, crv } = key as JWK;
  if (alg !== undefined) return alg;
  return kty === 'RSA' ? 'RS256' : byCurve[crv ?? ''];
}

interface Details {
  namedCurve?: string;
}

function ofKeyObject(key: {
  asymmetricKeyType?: string;
  asymmetricKeyDetails?: Details;
}): string | undefined {
  if (key.asymmetricKeyType === 'ed25519') return 'EdDSA';
  if (key.asymmetricKeyType === 'rsa') return 'RS256';
  if (key.asymmetricKeyType === 'rsa-pss') return 'PS256';
  return byCurve[key.asymmetricKeyDetails?.namedCurve ?? ''];
}

interface WebAlgorithm {
  name: string;
  namedCurve?: string;
  hash?: { name: string };
}

function ofCryptoKey({ name, namedCurve, hash }: WebAlgorithm): string | undefined {
  const bits = hash?.name.slice('SHA-'.length);
  if (name === 'RSASSA-PKCS1-v1_5') return `RS${bits}`;
  if (name === 'RSA-PSS') return `PS${bits}`;
  return byCurve[namedCurve ?? name];
}
