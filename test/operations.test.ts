import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expositionLabel, expositionName } from '../src/metrics/exposition.ts';
import { metricNames } from '../src/metrics/metrics.ts';
import { defaultLimits } from '../src/server/limits/limits.ts';
import { repositoryRoot } from './support/cli/run-command.ts';
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

/** Returns the texts of all source files. */
function sourceTexts(): string[] {
  const folder = join(repositoryRoot, 'src');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(folder, file), 'utf8'));
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

  it('quotes sentences of the log that the code writes, and metrics that exist', () => {
    const maintenance = rowsBelow('| what the log says |', readPage('docs/guide/maintenance.md'));
    const limits = rowsBelow('| limit | option |');
    const sentences = [...maintenance.map(([cell]) => cell), ...limits.map((cells) => cells[4])];
    const quoted = sentences.map((cell) => withoutCode(cell).replace(' …', '')).filter(Boolean);
    expect(quoted.length).toBeGreaterThan(6);
    const code = sourceTexts().join('\n');
    expect(quoted.filter((text) => !code.includes(text))).toEqual([]);
    const named = limits.flatMap(([, , , cell = '']) => cell.match(/dragoman_\w+/g) ?? []);
    expect(named.length).toBeGreaterThan(6);
    expect(named.filter((name) => !code.includes(`'${name}'`))).toEqual([]);
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
