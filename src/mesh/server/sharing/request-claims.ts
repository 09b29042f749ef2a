import { type Clock, sleep } from '../../../primitives/clock.ts';
import { parseJsonOrUndefined } from '../../../primitives/json.ts';
import { meshClaimTimeout, type MeshRegister, type MeshRegisterEntry } from '../../sharing/mesh-register.ts';
import type { SentReply } from '../mesh-reply.ts';

/** Milliseconds between two reads of a request that another server processes. */
const pollInterval = 500;

/** Longer responses are not stored: a repeated request is answered with the current task. */
const maxStoredCharacters = 262_144;

/** How another server has processed a request. */
export interface ProcessedRequest {
  /** Undefined if there was no response, or if it was not stored. */
  readonly sent: SentReply | undefined;
  /** True if this server waited for it: the client has received the response meanwhile. */
  readonly isConcurrent: boolean;
}

/** Lets one of several servers process each request: it claims the request in the register that they share. */
export class RequestClaims {
  readonly #register: MeshRegister;
  readonly #clock: Clock;
  readonly #claimed = new Set<string>();
  #stopRenewing: (() => void) | undefined = undefined;

  constructor(register: MeshRegister, clock: Clock) {
    this.#register = register;
    this.#clock = clock;
  }

  /**
   * Claims a request. Waits while another server processes it, and claims it when that server has ended.
   *
   * @param isNew - true if the request differs from an earlier one with the same key.
   * @returns undefined if this server has claimed it.
   */
  async claim(key: string, isNew: boolean): Promise<ProcessedRequest | undefined> {
    for (let isConcurrent = false; ; isConcurrent = true) {
      if (isNew) await this.#forget(key);
      const entry = await this.#register.claim(key);
      if (!entry || isNew) {
        this.#claimed.add(key);
        this.#stopRenewing ??= this.#clock.every(meshClaimTimeout / 3, () => void this.#renew());
        return undefined;
      }
      if (!entry.isClaimed) return { sent: readReply(entry), isConcurrent };
      await sleep(this.#clock, pollInterval);
    }
  }

  /** Stores the response for servers that receive the request again. */
  async finish(key: string, sent: SentReply | undefined): Promise<void> {
    this.#claimed.delete(key);
    if (this.#claimed.size === 0) {
      this.#stopRenewing?.();
      this.#stopRenewing = undefined;
    }
    const isStored = sent !== undefined && sent.payload.length <= maxStoredCharacters;
    await this.#register.set(key, isStored ? JSON.stringify(sent) : '');
  }

  /** Forgets an earlier request with the same key. */
  async #forget(key: string): Promise<void> {
    const entry = await this.#register.get(key);
    if (entry && !entry.isClaimed) await this.#register.delete(key, entry.value);
  }

  async #renew(): Promise<void> {
    try {
      await this.#register.renew([...this.#claimed]);
    } catch {
      // The next renewal comes before the claims end.
    }
  }
}

function readReply({ value }: MeshRegisterEntry): SentReply | undefined {
  return parseJsonOrUndefined(value) as SentReply | undefined;
}
