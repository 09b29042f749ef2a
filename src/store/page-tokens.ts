import type { Cipher, Decipher } from 'node:crypto';
import { nodeModule } from '../primitives/node/node-module.ts';
import { invalidField } from '../protocol/errors.ts';

/** Length of the key, in bytes. */
const keyLength = 16;

/** Each block is independent of the others, so that one cipher object encrypts all of them. */
interface PageCipher {
  readonly cipher: Cipher;
  readonly decipher: Decipher;
}

/**
 * Page tokens of lists. A token is one AES block that contains the recency of the last task on a page and a hash of the
 * owner, so it reveals nothing about the tasks of others, and tokens of other owners or of a client's own making are
 * rejected.
 */
export class PageTokens {
  readonly #key: string | undefined;
  #opened: PageCipher | undefined = undefined;
  /** Hash of the owner of the last list. */
  #lastHash: { readonly owner: string; readonly hash: Buffer } | undefined = undefined;

  /** @param key - in base64url; tokens stay valid as long as it stays the same. @defaultValue a new key */
  constructor(key?: string) {
    this.#key = key;
  }

  /** Created on demand: workers have no random numbers while a module is loaded. */
  get #ciphers(): PageCipher {
    return (this.#opened ??= openCiphers(this.#key ?? createPageTokenKey()));
  }

  write(owner: string, touched: number): string {
    const block = Buffer.alloc(16);
    block.writeBigUInt64BE(BigInt(touched));
    this.#hashOwner(owner).copy(block, 8);
    return this.#ciphers.cipher.update(block).toString('base64url');
  }

  /**
   * Returns the recency of the last task on the previous page; Infinity for the first page.
   *
   * @throws {@link A2AError} `INVALID_PARAMS` if the token was not written for this owner.
   */
  read(owner: string, token: string | undefined): number {
    if (token === undefined || token === '') return Number.POSITIVE_INFINITY;
    if (/^[\w-]{22}$/.test(token)) {
      const block = this.#ciphers.decipher.update(token, 'base64url');
      if (block.subarray(8).equals(this.#hashOwner(owner))) return Number(block.readBigUInt64BE());
    }
    throw invalidField('pageToken', 'must be a page token returned by this agent');
  }

  #hashOwner(owner: string): Buffer {
    if (this.#lastHash?.owner !== owner) {
      const { createHash } = nodeModule('node:crypto');
      const hash = createHash('sha256').update(owner).digest().subarray(0, 8);
      this.#lastHash = { owner, hash };
    }
    return this.#lastHash.hash;
  }
}

/** Creates a random key, in base64url. */
export function createPageTokenKey(): string {
  return nodeModule('node:crypto').randomBytes(keyLength).toString('base64url');
}

function openCiphers(key: string): PageCipher {
  const { createCipheriv, createDecipheriv } = nodeModule('node:crypto');
  const bytes = Buffer.from(key, 'base64url');
  return {
    cipher: createCipheriv('aes-128-ecb', bytes, null).setAutoPadding(false),
    decipher: createDecipheriv('aes-128-ecb', bytes, null).setAutoPadding(false),
  };
}
