import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { invalidField } from '../protocol/errors.ts';

/** Length of the key, in bytes. */
const keyLength = 16;

/**
 * Page tokens of lists. A token is one AES block that contains the recency of the last task on a page and a hash of the
 * owner, so it reveals nothing about the tasks of others, and tokens of other owners or of a client's own making are
 * rejected.
 */
export class PageTokens {
  readonly #key: Buffer;

  /** @param key - in base64url; tokens stay valid as long as it stays the same. */
  constructor(key = createPageTokenKey()) {
    this.#key = Buffer.from(key, 'base64url');
  }

  write(owner: string, touched: number): string {
    const cipher = createCipheriv('aes-128-ecb', this.#key, null).setAutoPadding(false);
    const block = Buffer.alloc(16);
    block.writeBigUInt64BE(BigInt(touched));
    hashOwner(owner).copy(block, 8);
    return Buffer.concat([cipher.update(block), cipher.final()]).toString('base64url');
  }

  /**
   * Returns the recency of the last task on the previous page; Infinity for the first page.
   *
   * @throws {@link A2AError} `INVALID_PARAMS` if the token was not written for this owner.
   */
  read(owner: string, token: string | undefined): number {
    if (token === undefined || token === '') return Number.POSITIVE_INFINITY;
    if (/^[\w-]{22}$/.test(token)) {
      const decipher = createDecipheriv('aes-128-ecb', this.#key, null).setAutoPadding(false);
      const block = Buffer.concat([decipher.update(token, 'base64url'), decipher.final()]);
      if (block.subarray(8).equals(hashOwner(owner))) return Number(block.readBigUInt64BE());
    }
    throw invalidField('pageToken', 'must be a page token returned by this agent');
  }
}

/** Creates a random key, in base64url. */
export function createPageTokenKey(): string {
  return randomBytes(keyLength).toString('base64url');
}

function hashOwner(owner: string): Buffer {
  return createHash('sha256').update(owner).digest().subarray(0, 8);
}
