import { expect, it } from 'vitest';
import { QuerySlots } from './query-slots.ts';

it('lets statements wait in order', async () => {
  const slots = new QuerySlots(1, 60_000);
  const order: string[] = [];
  expect(slots.acquire()).toBeUndefined();
  const waiting = ['a', 'b'].map((name) => Promise.resolve(slots.acquire()).then(() => order.push(name)));
  slots.release();
  await waiting[0];
  expect(order).toEqual(['a']);
  slots.release();
  await waiting[1];
  slots.release();
  expect(slots.acquire()).toBeUndefined();
});

it('gives up a statement that waits too long, and keeps its slot for others', async () => {
  const slots = new QuerySlots(1, 1);
  expect(slots.acquire()).toBeUndefined();
  await expect(slots.acquire()).rejects.toThrow('No connection to the database became free within 1 ms');
  slots.release();
  expect(slots.acquire()).toBeUndefined();
});
