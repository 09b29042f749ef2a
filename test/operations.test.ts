import { describe, expect, it } from 'vitest';
import { metricNames } from '../src/metrics/metrics.ts';
import { defaultLimits } from '../src/server/limits/limits.ts';
import { readPage } from './support/docs/code-blocks.ts';

const page = readPage('docs/guide/operations.md');

/** The rows of the table that begins with a heading, cell by cell. */
function rowsBelow(heading: string): string[][] {
  const table = page.slice(page.indexOf(heading)).split('\n\n')[0] ?? '';
  return table
    .split('\n')
    .slice(2)
    .map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

const bare = (cell = ''): string => cell.replaceAll('`', '');

describe('the page on operations', () => {
  it('has every limit with its default, and no other', () => {
    const rows = rowsBelow('| option of `serve`');
    const said = rows.map(([option, , value = '']) => [
      bare(option).replace('limits.', ''),
      value.split(' ')[0],
    ]);
    const known = Object.entries(defaultLimits).map(([name, value]) => [name, String(value)]);
    expect(said).toHaveLength(known.length + 1);
    expect(Object.fromEntries(said)).toEqual({ ...Object.fromEntries(known), rate: 'off' });
  });

  it('says where each limit is set', () => {
    const options = rowsBelow('| option of `serve`').map(([option]) => bare(option));
    const atTop = options.filter((option) => !option.startsWith('limits.'));
    expect(atTop.sort()).toEqual(['maxBodyBytes', 'maxStreams', 'stallTimeout']);
  });

  it('has every metric with its labels, and no other', () => {
    const said = rowsBelow('| metric |').map(([name, labels]) => [bare(name), bare(labels)]);
    const known = Object.values(metricNames).map((metric) => [
      metric.name,
      'labels' in metric ? metric.labels.join(', ') : '',
    ]);
    expect(said).toHaveLength(known.length);
    expect(Object.fromEntries(said)).toEqual(Object.fromEntries(known));
  });
});
