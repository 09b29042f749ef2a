import { expect, it } from 'vitest';
import { EndWatch } from './end-watch.ts';

const box = (scrollTop: number, scrollHeight: number) => ({ scrollTop, scrollHeight, clientHeight: 100 });

it('stays at the end while the box grows faster than it scrolls', () => {
  const watch = new EndWatch();
  watch.see(box(400, 500));
  watch.see(box(450, 900));
  expect(watch.isAtEnd).toBe(true);
});

it('leaves the end with whoever scrolls up, and comes back with them', () => {
  const watch = new EndWatch();
  watch.see(box(400, 500));
  watch.see(box(200, 500));
  expect(watch.isAtEnd).toBe(false);
  watch.see(box(250, 900));
  expect(watch.isAtEnd).toBe(false);
  watch.see(box(790, 900));
  expect(watch.isAtEnd).toBe(true);
});
