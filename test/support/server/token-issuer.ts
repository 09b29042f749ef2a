import {
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from 'jose';

/** Somebody who makes tokens. */
export interface TokenIssuer {
  url: string;
  publicKey: JWK;
  /** Makes a token that is good for an hour, unless told otherwise. */
  token(claims?: JWTPayload, header?: Partial<JWTHeaderParameters>): Promise<string>;
}

/** Makes one with a key of its own. */
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

/** A part of a token: anything as JSON, in the alphabet of tokens. */
export function encodeJwtPart(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
}
