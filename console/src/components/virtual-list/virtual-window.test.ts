import { describe, expect, it } from 'vitest';
import { rowAfterKey, scrollOffsetFor, computeWindow } from './virtual-window.ts';

describe('virtualWindow', () => {
  it('contains the visible rows and an overscan', () => {
    expect(computeWindow(10_000, 20, 2000, 200, 5)).toEqual({ first: 95, end: 115 });
  });

  it('ends at the end of the list, also after it became shorter', () => {
    expect(computeWindow(3, 20, 0, 200)).toEqual({ first: 0, end: 3 });
    expect(computeWindow(100, 20, 1_000_000, 200, 0)).toEqual({ first: 90, end: 100 });
    expect(computeWindow(0, 20, 50, 200)).toEqual({ first: 0, end: 0 });
  });

  it('has a constant size for long lists', () => {
    const { first, end } = computeWindow(1_000_000, 20, 9_000_000, 800);
    expect(end - first).toBeLessThan(80);
  });
});

describe('scroll offset for a row', () => {
  it('is the smallest offset that makes the row visible', () => {
    expect(scrollOffsetFor(5, 20, 0, 200)).toBe(0);
    expect(scrollOffsetFor(10, 20, 0, 200)).toBe(20);
    expect(scrollOffsetFor(2, 20, 100, 200)).toBe(40);
  });
});

describe('list keys', () => {
  it('select rows by arrow, page, Home and End', () => {
    expect(rowAfterKey('ArrowDown', 4, 10, 5)).toBe(5);
    expect(rowAfterKey('ArrowUp', 0, 10, 5)).toBe(0);
    expect(rowAfterKey('PageDown', 7, 10, 5)).toBe(9);
    expect(rowAfterKey('Home', 7, 10, 5)).toBe(0);
    expect(rowAfterKey('End', 0, 10, 5)).toBe(9);
  });

  it('select the first row without a selection', () => {
    expect(rowAfterKey('ArrowDown', -1, 10, 5)).toBe(0);
    expect(rowAfterKey('ArrowUp', -1, 10, 5)).toBe(0);
  });

  it('ignore other keys', () => {
    expect(rowAfterKey('a', 4, 10, 5)).toBeUndefined();
    expect(rowAfterKey('constructor', 4, 10, 5)).toBeUndefined();
    expect(rowAfterKey('ArrowDown', -1, 0, 5)).toBeUndefined();
  });
});
