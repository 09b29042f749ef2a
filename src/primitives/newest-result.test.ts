import { describe, expect, it } from 'vitest';
import { newestResult } from './newest-result.ts';

describe('newestResult', () => {
  const responses: { resolve: (list: string) => void; reject: (error: Error) => void }[] = [];
  const load = newestResult(
    () => new Promise<string>((resolve, reject) => void responses.push({ resolve, reject })),
  );

  it.each([
    ['an earlier response that arrives last', ['second', 'first']],
    ['an earlier response that arrives first', ['first', 'second']],
  ])('drops %s', async (_when, order) => {
    responses.length = 0;
    const calls = Promise.all([load(), load()]);
    for (const each of order) responses[each === 'first' ? 0 : 1]?.resolve(each);
    expect(await calls).toEqual(['second', 'second']);
  });

  it('drops the error of an earlier request, and reports that of the last one', async () => {
    responses.length = 0;
    const calls = [load(), load()];
    responses[0]?.reject(new Error('first'));
    responses[1]?.resolve('second');
    expect(await Promise.all(calls)).toEqual(['second', 'second']);
    const failing = load();
    responses[2]?.reject(new Error('third'));
    await expect(failing).rejects.toThrow('third');
  });
});
