import { describe, expect, it } from 'vitest';
import { raceAbort } from './abort.ts';

describe('raceAbort', () => {
  it('settles like the promise when the signal does not abort', async () => {
    const { signal } = new AbortController();
    await expect(raceAbort(Promise.resolve(1), signal)).resolves.toBe(1);
    await expect(raceAbort(Promise.reject(new Error('failed')), signal)).rejects.toThrow('failed');
  });

  it('rejects when the signal aborts', async () => {
    const aborting = new AbortController();
    const racing = raceAbort(new Promise(() => {}), aborting.signal);
    aborting.abort('reason');
    await expect(racing).rejects.toBe('reason');
  });

  it('rejects when the signal is already aborted, with the error of toError', async () => {
    const racing = raceAbort(Promise.reject(new Error('unhandled')), AbortSignal.abort(), () => 'canceled');
    await expect(racing).rejects.toBe('canceled');
  });
});
