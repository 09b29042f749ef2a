import {
  type Cipher,
  createCipheriv,
  createDecipheriv,
  createHash,
  type Decipher,
  randomBytes,
} from 'node:crypto';
import { invalidField } from '../protocol/errors.ts';

/** Length of the key, in bytes. */
const keyLength = 16;

/**
 * Page tokens of lists. A token is one AES block that contains the recency of the last task on a page and a hash of the
 * owner, so it reveals nothing about the tasks of others, and tokens of other owners or of a client's own making are
 * rejected.
 */
export class PageTokens {
  // Each block is independent of the others, so that one cipher object encrypts all of them.
  readonly #cipher: Cipher;
  readonly #decipher: Decipher;
  /** Hash of the owner of the last list. */
  #lastHash: { readonly owner: string; readonly hash: Buffer } | undefined = undefined;

  /** @param key - in base64url; tokens stay valid as long as it stays the same. */
  constructor(key = createPageTokenKey()) {
    const bytes = Buffer.from(key, 'base64url');
    this.#cipher = createCipheriv('aes-128-ecb', bytes, null).setAutoPadding(false);
    this.#decipher = createDecipheriv('aes-128-ecb', bytes, null).setAutoPadding(false);
  }

  write(owner: string, touched: number): string {
    const block = Buffer.alloc(16);
    block.writeBigUInt64BE(BigInt(touched));
    this.#hashOwner(owner).copy(block, 8);
    return this.#cipher.update(block).toString('base64url');
  }

  /**
   * Returns the recency of the last task on the previous page; Infinity for the first page.
   *
   * @throws {@link A2AError} `INVALID_PARAMS` if the token was not written for this owner.
   */
  read(owner: string, token: string | undefined): number {
    if (token === undefined || token === '') return Number.POSITIVE_INFINITY;
    if (/^[\w-]{22}$/.test(token)) {
      const block = this.#decipher.update(token, 'base64url');
      if (block.subarray(8).equals(this.#hashOwner(owner))) return Number(block.readBigUInt64BE());
    }
    throw invalidField('pageToken', 'must be a page token returned by this agent');
  }

  #hashOwner(owner: string): Buffer {
    if (this.#lastHash?.owner !== owner) {
      const hash = createHash('sha256').update(owner).digest().subarray(0, 8);
      this.#lastHash = { owner, hash };
    }
    return this.#lastHash.hash;
  }
}

/** Creates a random key, in base64url. */
export function createPageTokenKey(): string {
  return randomBytes(keyLength).toString('base64url');
}
