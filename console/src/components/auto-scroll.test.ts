import { expect, it } from 'vitest';
import { AutoScroll } from './auto-scroll.ts';

const box = (at: number, scrollHeight: number) => ({
  // Like a browser: scrolling is limited to the end.
  get scrollTop() {
    return Math.min(at, scrollHeight - 100);
  },
  set scrollTop(to: number) {
    at = to;
  },
  scrollHeight,
  clientHeight: 100,
});

it('stays at the end while content grows faster than it scrolls', () => {
  const watch = new AutoScroll();
  watch.see(box(400, 500));
  watch.see(box(450, 900));
  expect(watch.isAtEnd).toBe(true);
});

it('stops when the user scrolls up and resumes at the end', () => {
  const watch = new AutoScroll();
  watch.see(box(400, 500));
  watch.see(box(200, 500));
  expect(watch.isAtEnd).toBe(false);
  watch.see(box(250, 900));
  expect(watch.isAtEnd).toBe(false);
  watch.see(box(790, 900));
  expect(watch.isAtEnd).toBe(true);
});

it('ignores a shrunk element', () => {
  const watch = new AutoScroll();
  watch.see(box(400, 500));
  const shorter = box(300, 400);
  watch.keep(shorter);
  watch.see(box(shorter.scrollTop, 900));
  expect(watch.isAtEnd).toBe(true);
});

it('does not scroll after the user scrolled up', () => {
  const watch = new AutoScroll();
  watch.see(box(400, 500));
  watch.see(box(200, 500));
  const grown = box(200, 900);
  watch.keep(grown);
  expect(grown.scrollTop).toBe(200);
});

it('lets the user scroll up although content grows before the scroll event', () => {
  for (const to of [300, 0]) {
    const watch = new AutoScroll();
    watch.keep(box(400, 500));
    const grown = box(to, 900);
    watch.keep(grown);
    expect([grown.scrollTop, watch.isAtEnd]).toEqual([to, false]);
  }
});
