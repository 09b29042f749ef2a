import { expect, it } from 'vitest';
import { safeFileName } from './download.ts';
import { formatByteSize, formatClockTime, formatDayOrTime, formatDuration } from './format-units.ts';

it('formats durations', () => {
  expect([120.4, 3400, 125_000].map(formatDuration)).toEqual(['120 ms', '3.4 s', '2 min 5 s']);
});

it('formats times of today without the day, and other times without the clock', () => {
  const noon = new Date(2026, 5, 1, 12, 5).getTime();
  expect(formatDayOrTime(noon, noon + 3_600_000)).toBe('12:05');
  expect(formatDayOrTime(noon, noon + 86_400_000)).toBe('2026-06-01');
});

it('formats sizes', () => {
  expect([0, 999, 12_345, 5e6, 3e12].map(formatByteSize)).toEqual([
    '0 B',
    '999 B',
    '12.3 kB',
    '5.0 MB',
    '3000.0 GB',
  ]);
});

it('returns truncated input that is not a time', () => {
  expect(formatClockTime('yesterday')).toBe('yesterday');
  expect(formatClockTime('x'.repeat(1000))).toHaveLength(40);
});

it('sanitizes file names', () => {
  expect(safeFileName('../../etc/passwd')).toBe('_.._etc_passwd');
  expect(safeFileName('a\u0000b\n.txt')).toBe('a_b_.txt');
  expect(safeFileName('...')).toBe('download');
  expect(safeFileName('x'.repeat(500))).toHaveLength(120);
});
