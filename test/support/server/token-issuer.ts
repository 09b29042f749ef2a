import {
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from 'jose';

/** Issues JWTs. */
export interface TokenIssuer {
  url: string;
  publicKey: JWK;
  /** Issues a token for `alice` that is valid for one hour; claims override the defaults. */
  token(claims?: JWTPayload, header?: Partial<JWTHeaderParameters>): Promise<string>;
}

/** Creates an issuer with a new ES256 key. */
export async function createTokenIssuer(kid = 'one', url = 'https://issuer.test'): Promise<TokenIssuer> {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  return {
    url,
    publicKey: { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' },
    token(claims = {}, header = {}) {
      const now = Math.floor(Date.now() / 1000);
      const standard = { iss: url, aud: 'agent', sub: 'alice', iat: now, exp: now + 3600 };
      return new SignJWT({ ...standard, ...claims })
        .setProtectedHeader({ alg: 'ES256', kid, ...header })
        .sign(privateKey, { crit: { strange: true } });
    },
  };
}

/** Encodes a part of a JWT: a string as it is, other values as JSON, in base64url. */
export function encodeJwtPart(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
}
