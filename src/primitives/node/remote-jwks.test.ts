import { describe, expect, it } from 'vitest';
import { RemoteJwks } from './remote-jwks.ts';

const unknownKey = Object.assign(new Error('no matching key'), { code: 'ERR_JWKS_NO_MATCHING_KEY' });

/** Key server with adjustable keys, failures and time. */
function keyServer(options: { maxAge?: number; maxStaleAge?: number } = {}) {
  const state = { now: 0, keys: ['a'], isDown: false, requests: 0 };
  const jwks = new RemoteJwks<string, undefined, string>({
    ...options,
    now: () => state.now,
    load: async () => {
      state.requests++;
      if (state.isDown) throw new Error('unavailable');
      const keys = [...state.keys];
      return async (kid) => {
        if (!keys.includes(kid)) throw unknownKey;
        return `key ${kid}`;
      };
    },
  });
  return { state, find: (kid: string) => jwks.find(kid, undefined) };
}

describe('RemoteJwks', () => {
  it('fetches the key set once for concurrent and later tokens', async () => {
    const { state, find } = keyServer();
    expect(state.requests).toBe(0);
    expect(await Promise.all([find('a'), find('a')])).toEqual(['key a', 'key a']);
    state.now = 1e12;
    await find('a');
    expect(state.requests).toBe(1);
  });

  it('fetches again for an unknown key id, at most every 30 seconds', async () => {
    const { state, find } = keyServer();
    await find('a');
    state.keys = ['a', 'b'];
    state.now = 29_999;
    await expect(find('b')).rejects.toBe(unknownKey);
    state.now = 30_000;
    expect(await find('b')).toBe('key b');
    await expect(find('c')).rejects.toBe(unknownKey);
    expect(state.requests).toBe(2);
  });

  it('fetches again after maxAge', async () => {
    const { state, find } = keyServer({ maxAge: 60_000 });
    await find('a');
    state.keys = ['b'];
    state.now = 60_001;
    await expect(find('a')).rejects.toBe(unknownKey);
  });

  it('uses a stale key set up to maxStaleAge while fetching fails', async () => {
    const { state, find } = keyServer({ maxAge: 60_000, maxStaleAge: 120_000 });
    await find('a');
    state.isDown = true;
    state.now = 60_001;
    expect(await find('a')).toBe('key a');
    state.now = 120_001;
    await expect(find('a')).rejects.toThrow('unavailable');
  });

  it('rejects with the error of the failed fetch and retries after a second', async () => {
    const { state, find } = keyServer();
    state.isDown = true;
    await expect(find('a')).rejects.toThrow('unavailable');
    state.isDown = false;
    await expect(find('a')).rejects.toThrow('unavailable');
    expect(state.requests).toBe(1);
    state.now = 1_000;
    expect(await find('a')).toBe('key a');
  });
});
