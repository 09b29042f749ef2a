import { describe, expect, it } from 'vitest';
import { expositionLabel, expositionName } from '../src/metrics/exposition.ts';
import { metricNames } from '../src/metrics/metrics.ts';
import { defaultLimits } from '../src/server/limits/limits.ts';
import { readPage } from './support/docs/code-blocks.ts';

const page = readPage('docs/guide/operations.md');
const telemetryPage = readPage('docs/guide/telemetry.md');

/** Returns the cells of the table with this heading. */
function rowsBelow(heading: string, text = page): string[][] {
  const table = text.slice(text.indexOf(heading)).split('\n\n')[0] ?? '';
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

const withoutCode = (cell = ''): string => cell.replaceAll('`', '');

describe('docs/guide/operations.md', () => {
  it('lists all limits with their defaults', () => {
    const rows = rowsBelow('| option of `serve`');
    const documented = rows.map(([option, , value = '']) => [
      withoutCode(option).replace('limits.', ''),
      value.split(' ')[0],
    ]);
    const actual = Object.entries(defaultLimits).map(([name, value]) => [
      name,
      String(typeof value === 'object' ? value.perSecond : value),
    ]);
    expect(documented).toHaveLength(actual.length + 2);
    expect(Object.fromEntries(documented)).toEqual({
      ...Object.fromEntries(actual),
      rate: 'off',
      addressRate: 'off',
    });
  });

  it('names the options that are not in limits', () => {
    const options = rowsBelow('| option of `serve`').map(([option]) => withoutCode(option));
    const atTop = options.filter((option) => !option.startsWith('limits.'));
    expect(atTop.sort()).toEqual(['heartbeat', 'maxBodyBytes', 'maxStreams', 'stallTimeout']);
  });

  it('lists all metrics with their labels', () => {
    const documented = rowsBelow('| metric |', telemetryPage).map(([name, labels]) => [
      withoutCode(name),
      withoutCode(labels),
    ]);
    const actual = Object.values(metricNames).map((metric) => [
      expositionName(metric, metric.name.includes('duration') ? 'histogram' : 'gauge'),
      'labels' in metric ? metric.labels.map(expositionLabel).join(', ') : '',
    ]);
    expect(documented).toHaveLength(actual.length);
    expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(actual));
  });
});
