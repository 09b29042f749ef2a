import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { computeCoverage, formatCoveragePage, type Requirement } from './requirement-coverage.ts';
import { allChecks } from '../checks/index.ts';
import { allInvariants } from '../invariants/index.ts';
import { waivers } from './waivers.ts';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const requirements = JSON.parse(read('requirements/a2a-1.0.1.json')) as Requirement[];
const rules = [...allChecks, ...allInvariants];
const coverage = computeCoverage(requirements, rules, waivers);

describe('the rules', () => {
  it('cover every requirement on agents and cards, or say why not', () => {
    expect(coverage.missing).toEqual([]);
  });

  it('excuse nothing that they cover', () => {
    expect(coverage.stale).toEqual([]);
  });

  it('name requirements that exist', () => {
    expect(coverage.unknown).toEqual([]);
  });

  it('have ids of their own', () => {
    const ids = rules.map(({ id }) => id);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  });

  it('are as the page of the coverage has them: npm run build, then node scripts/coverage.mjs', () => {
    expect(read('docs/reference/conformance-coverage.md')).toBe(formatCoveragePage(coverage));
  });
});

describe('coverage', () => {
  const requirement = (id: string): Requirement => ({
    id,
    section: '1',
    level: 'MUST',
    transport: 'any',
    subject: 'server',
    summary: 'a | b',
    auto: true,
  });

  it('tells what is missing, what is excused in vain, and what does not exist', () => {
    const found = computeCoverage(
      [
        requirement('A-1'),
        requirement('A-2'),
        requirement('A-3'),
        { ...requirement('A-4'), subject: 'client' },
      ],
      [{ id: 'a.one', requirements: ['A-1', 'B-1', '0.3/x'] }],
      { 'A-1': 'in vain', 'A-2': 'a reason' },
    );
    expect(found.missing).toEqual(['A-3']);
    expect(found.stale).toEqual(['A-1']);
    expect(found.unknown).toEqual(['B-1']);
    expect(formatCoveragePage(found)).toContain(
      String.raw`| A-2 | 1 | MUST | a \| b | not looked at: a reason |`,
    );
  });
});
