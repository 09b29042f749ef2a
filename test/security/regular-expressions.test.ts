/** Regular expressions that may read text of a peer must take linear time. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findCheckedExpressions, findExpressions, findFlaw } from './regular-expressions.ts';

/** Expressions whose pattern is computed, by the file that creates them. */
const computedIn: Readonly<Record<string, string>> = {
  'src/cli/inputs/glob.ts': 'the user writes the pattern, and it reads names of local files',
  'src/mesh/brokers/property-encoding.ts': 'adds a flag to a literal of topic-pattern.ts',
  'src/tap/scenario/expected-text.ts': 'escaped ids; it reads at most 4,000 characters',
  'src/testkit/matchers/partial-match.ts': 'an expression of the test that calls the matcher',
  'src/testkit/scenario/conversation/expect-step.ts': 'the author of the scenario writes the pattern',
  'src/testkit/scenario/conversation/run-conversation.ts': 'the author of the scenario writes the pattern',
  'src/testkit/scenario/expectations/compare-values.ts': 'the author of the scenario writes the pattern',
  'src/testkit/scenario/expectations/expect-files.ts': 'the author of the scenario writes the pattern',
  'src/testkit/scenario/files/regex-error.ts': 'checks the syntax and reads no text',
  'src/testkit/script/rules/text-matcher.ts': 'the author of the script writes the pattern',
  'console/src/views/traffic/filter.ts': 'escaped text of the user',
};

/** Expressions that were found linear. The tests of the second tier check them again. */
const listFile = join(import.meta.dirname, 'linear-expressions.txt');
const linear = new Set(readFileSync(listFile, 'utf8').split('\n'));

it('finds the literals and the constructor calls', () => {
  const texts = findExpressions().map(({ text }) => text);
  expect(texts.length).toBeGreaterThan(300);
  expect(texts.some((text) => text.includes('client[_-]?assertion'))).toBe(true);
});

it('computes patterns only where no peer supplies them', () => {
  const files = findExpressions()
    .filter(({ isComputed }) => isComputed)
    .flatMap(({ places }) => places.map((place) => place.replace(/:\d+$/, '')));
  expect(new Set(files)).toEqual(new Set(Object.keys(computedIn)));
});

it('reads any text in linear time with each expression', { timeout: 300_000 }, async () => {
  const checked = findCheckedExpressions();
  const unknown = checked.filter(({ text }) => !linear.has(text));
  const flaws = new Map<string, string>();
  for (const { text, places } of unknown) {
    const flaw = await findFlaw(text, 60_000);
    if (flaw !== undefined) flaws.set(text, `${text} (${places.join(', ')}): ${flaw}`);
  }
  const isRecording = Boolean(process.env['DRAGOMAN_RECORD_EXPRESSIONS']);
  if (isRecording) {
    const texts = checked.map(({ text }) => text).filter((text) => !flaws.has(text));
    writeFileSync(listFile, `${texts.join('\n')}\n`);
  }
  expect([...flaws.values()]).toEqual([]);
  // A check takes more than a second.
  if (!isRecording) expect(unknown.length, 'run again with DRAGOMAN_RECORD_EXPRESSIONS=1').toBeLessThan(20);
});

it('finds a vulnerable expression', async () => {
  expect(await findFlaw(String.raw`/\s*,\s*/`, 60_000)).toMatch(/polynomial/);
});
