import type { KeyObject } from 'node:crypto';
import type { JsonWebKeySet } from '../../primitives/web/jwks.ts';
import { invalidField } from '../../protocol/errors.ts';

/** Signed content of a notification. */
export interface SignatureInput {
  /** Delivery id: a redelivery has the same id, a replay can be detected by it. */
  id: string;
  url: string;
  body: string;
  /** Time of signing, in milliseconds since 1970. */
  at: number;
}

/** Signs notifications, so that a webhook can verify sender and integrity. */
export interface PushSigner {
  /** Returns a JSON Web Token for a notification. */
  sign(signable: SignatureInput): Promise<string>;
  /** Returns the public key. */
  jwks(): Promise<JsonWebKeySet>;
}

/** Options of {@link pushSigner}. */
export interface PushSignerOptions {
  /**
   * Private key as JSON Web Key or PEM: RSA or P-256. By default a key is generated on first use, and again after a
   * restart.
   */
  key?: string | { readonly [member: string]: unknown };
  /** Key id. @defaultValue the thumbprint of the key */
  kid?: string;
  /** Algorithm of a generated key. Older webhooks support only RS256. @defaultValue `'RS256'` */
  algorithm?: 'RS256' | 'ES256';
}

interface SigningKeys {
  kid: string;
  algorithm: 'RS256' | 'ES256';
  privateKey: KeyObject;
  publicKey: { [member: string]: unknown };
}

/**
 * Creates a signer. Its tokens have the claims `iat`, `jti` (delivery id), `htu` (URL without query) and
 * `request_body_sha256`.
 */
export function pushSigner(options: PushSignerOptions = {}): PushSigner {
  let loading: Promise<SigningKeys> | undefined;
  const keys = (): Promise<SigningKeys> => (loading ??= loadKeys(options));
  return {
    async sign({ id, url, body, at }) {
      const [{ SignJWT }, { createHash }, { kid, algorithm, privateKey }] = await Promise.all([
        import('jose'),
        import('node:crypto'),
        keys(),
      ]);
      const request_body_sha256 = createHash('sha256').update(body).digest('hex');
      return new SignJWT({ request_body_sha256, htu: stripQuery(url) })
        .setProtectedHeader({ alg: algorithm, kid, typ: 'JWT' })
        .setIssuedAt(Math.floor(at / 1_000))
        .setJti(id)
        .sign(privateKey);
    },
    async jwks() {
      const { kid, algorithm, publicKey } = await keys();
      return { keys: [{ ...publicKey, kid, alg: algorithm, use: 'sig' }] };
    },
  };
}

/** Returns a URL without query and fragment, which may contain secrets. */
export function stripQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

async function loadKeys({ key, kid, algorithm = 'RS256' }: PushSignerOptions): Promise<SigningKeys> {
  const { createPublicKey } = await import('node:crypto');
  const { calculateJwkThumbprint } = await import('jose');
  const privateKey = key === undefined ? await generateKey(algorithm) : await parseKey(key);
  const publicKey = createPublicKey(privateKey).export({ format: 'jwk' }) as { [member: string]: unknown };
  return {
    kid: kid ?? (await calculateJwkThumbprint(publicKey)),
    algorithm: privateKey.asymmetricKeyType === 'ec' ? 'ES256' : 'RS256',
    privateKey,
    publicKey,
  };
}

async function generateKey(algorithm: 'RS256' | 'ES256'): Promise<KeyObject> {
  const { generateKeyPair } = await import('node:crypto');
  return new Promise((resolve, reject) => {
    const onGenerated = (error: Error | null, _public: KeyObject, generated: KeyObject): void =>
      error ? reject(error) : resolve(generated);
    if (algorithm === 'ES256') generateKeyPair('ec', { namedCurve: 'P-256' }, onGenerated);
    else generateKeyPair('rsa', { modulusLength: 2048 }, onGenerated);
  });
}

async function parseKey(key: NonNullable<PushSignerOptions['key']>): Promise<KeyObject> {
  const { createPrivateKey } = await import('node:crypto');
  let privateKey: KeyObject;
  try {
    privateKey =
      typeof key === 'string' ? createPrivateKey(key) : createPrivateKey({ key: { ...key }, format: 'jwk' });
  } catch {
    // The error of the library might quote the key.
    throw invalidField('key', 'must be a private key as JSON Web Key or PEM');
  }
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = privateKey;
  if (type === 'rsa' && (details?.modulusLength ?? 0) >= 2048) return privateKey;
  if (type === 'ec' && details?.namedCurve === 'prime256v1') return privateKey;
  throw invalidField('key', 'must be an RSA key of at least 2048 bits or a P-256 key');
}
