import type { KeyObject } from 'node:crypto';
import { invalidField } from '../../protocol/errors.ts';

/** A set of public keys, as `/.well-known/jwks.json` shows it. */
export interface JsonWebKeySet {
  keys: readonly { readonly [member: string]: unknown }[];
}

/** What is signed of a notification. */
export interface SignatureInput {
  /** Its id, which tells a repetition from a replay. */
  id: string;
  url: string;
  body: string;
  /** The moment, in milliseconds since 1970. */
  at: number;
}

/** Signs notifications, so that a webhook knows who speaks and that nobody changed the words. */
export interface PushSigner {
  /** Gives a JSON Web Token over a notification. */
  sign(signable: SignatureInput): Promise<string>;
  /** The public half of the key. */
  jwks(): Promise<JsonWebKeySet>;
}

/** Which key to sign with. */
export interface PushSignerOptions {
  /**
   * The private key, as a JSON Web Key or as PEM: RSA or P-256. Without one a key is made at the first use, and
   * another after a restart.
   */
  key?: string | { readonly [member: string]: unknown };
  /** The name of the key. @defaultValue its thumbprint */
  kid?: string;
  /**
   * How to sign with a key that is made here. Webhooks of the first versions know RS256 only.
   * @defaultValue `'RS256'`
   */
  algorithm?: 'RS256' | 'ES256';
}

interface Keys {
  kid: string;
  algorithm: 'RS256' | 'ES256';
  privateKey: KeyObject;
  publicKey: { [member: string]: unknown };
}

/**
 * Makes a signer. Its tokens have the claims `iat`, `jti` (the id of the delivery), `htu` (the address without its
 * query) and `request_body_sha256`.
 */
export function pushSigner(options: PushSignerOptions = {}): PushSigner {
  let making: Promise<Keys> | undefined;
  const keys = (): Promise<Keys> => (making ??= keysOf(options));
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

/** An address without its query and fragment, which may hold secrets. */
export function stripQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

async function keysOf({ key, kid, algorithm = 'RS256' }: PushSignerOptions): Promise<Keys> {
  const { createPublicKey } = await import('node:crypto');
  const { calculateJwkThumbprint } = await import('jose');
  const privateKey = key === undefined ? await newKey(algorithm) : await readKey(key);
  const publicKey = createPublicKey(privateKey).export({ format: 'jwk' }) as { [member: string]: unknown };
  return {
    kid: kid ?? (await calculateJwkThumbprint(publicKey)),
    algorithm: privateKey.asymmetricKeyType === 'ec' ? 'ES256' : 'RS256',
    privateKey,
    publicKey,
  };
}

async function newKey(algorithm: 'RS256' | 'ES256'): Promise<KeyObject> {
  const { generateKeyPair } = await import('node:crypto');
  return new Promise((resolve, reject) => {
    const done = (fault: Error | null, _public: KeyObject, made: KeyObject): void =>
      fault ? reject(fault) : resolve(made);
    if (algorithm === 'ES256') generateKeyPair('ec', { namedCurve: 'P-256' }, done);
    else generateKeyPair('rsa', { modulusLength: 2048 }, done);
  });
}

async function readKey(key: NonNullable<PushSignerOptions['key']>): Promise<KeyObject> {
  const { createPrivateKey } = await import('node:crypto');
  let read: KeyObject;
  try {
    read =
      typeof key === 'string' ? createPrivateKey(key) : createPrivateKey({ key: { ...key }, format: 'jwk' });
  } catch {
    // What the library says of it might quote the key.
    throw invalidField('key', 'must be a private key, as a JSON Web Key or as PEM');
  }
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = read;
  if (type === 'rsa' && (details?.modulusLength ?? 0) >= 2048) return read;
  if (type === 'ec' && details?.namedCurve === 'prime256v1') return read;
  throw invalidField('key', 'must be an RSA key of at least 2048 bits or a P-256 key');
}
