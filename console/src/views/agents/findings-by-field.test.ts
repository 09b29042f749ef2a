import { expect, it } from 'vitest';
import { findingsAt, unplacedFindings } from './findings-by-field.ts';

const at = (path: string) => ({ level: 'error' as const, path, message: 'wrong' });

it('selects findings of a field and below it', () => {
  const findings = [at('skills[0]'), at('skills[0].tags'), at('skills[1].id'), at('skillset')];
  expect(findingsAt(findings, 'skills[0]').map(({ path }) => path)).toEqual(['skills[0]', 'skills[0].tags']);
  expect(findingsAt(findings, 'skills')).toHaveLength(3);
});

it('returns findings of fields that are not rendered', () => {
  const findings = [at('name'), at('supportedInterfaces[0].url'), at(''), at('made.up')];
  expect(unplacedFindings(findings).map(({ path }) => path)).toEqual(['', 'made.up']);
});
