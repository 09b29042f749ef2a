import { describe, expect, it } from 'vitest';
import { rowAfterKey, scrollOffsetFor, computeWindow } from './virtual-window.ts';

describe('the window of a long list', () => {
  it('holds what is seen and a little more', () => {
    expect(computeWindow(10_000, 20, 2000, 200, 5)).toEqual({ first: 95, end: 115 });
  });

  it('ends where the list ends, also when the list has become shorter', () => {
    expect(computeWindow(3, 20, 0, 200)).toEqual({ first: 0, end: 3 });
    expect(computeWindow(100, 20, 1_000_000, 200, 0)).toEqual({ first: 90, end: 100 });
    expect(computeWindow(0, 20, 50, 200)).toEqual({ first: 0, end: 0 });
  });

  it('stays small however long the list is', () => {
    const { first, end } = computeWindow(1_000_000, 20, 9_000_000, 800);
    expect(end - first).toBeLessThan(80);
  });
});

describe('showing a row', () => {
  it('scrolls as little as possible', () => {
    expect(scrollOffsetFor(5, 20, 0, 200)).toBe(0);
    expect(scrollOffsetFor(10, 20, 0, 200)).toBe(20);
    expect(scrollOffsetFor(2, 20, 100, 200)).toBe(40);
  });
});

describe('keys in a list', () => {
  it('go up, down, by pages and to the ends', () => {
    expect(rowAfterKey('ArrowDown', 4, 10, 5)).toBe(5);
    expect(rowAfterKey('ArrowUp', 0, 10, 5)).toBe(0);
    expect(rowAfterKey('PageDown', 7, 10, 5)).toBe(9);
    expect(rowAfterKey('Home', 7, 10, 5)).toBe(0);
    expect(rowAfterKey('End', 0, 10, 5)).toBe(9);
  });

  it('begin at the top when no row is chosen', () => {
    expect(rowAfterKey('ArrowDown', -1, 10, 5)).toBe(0);
    expect(rowAfterKey('ArrowUp', -1, 10, 5)).toBe(0);
  });

  it('mean nothing else', () => {
    expect(rowAfterKey('a', 4, 10, 5)).toBeUndefined();
    expect(rowAfterKey('constructor', 4, 10, 5)).toBeUndefined();
    expect(rowAfterKey('ArrowDown', -1, 0, 5)).toBeUndefined();
  });
});
