import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { computeCoverage, formatCoveragePage, type Requirement } from './support/conformance-coverage.ts';
import { allChecks } from '../src/conformance/checks/index.ts';
import { allInvariants } from '../src/conformance/invariants/index.ts';
import { allClientChecks } from '../src/conformance/clients/checks/index.ts';
import { createClientInvariants } from '../src/conformance/clients/invariants/index.ts';

const read = (file: string): unknown =>
  JSON.parse(readFileSync(new URL(`../requirements/${file}`, import.meta.url), 'utf8'));
const requirements = read('a2a-1.0.1.json') as Requirement[];
/** Requirements that could be tested from outside but are not, with the reason. */
const waivers = read('waivers.json') as Record<string, string>;
const rules = [...allChecks, ...allInvariants];
const coverage = computeCoverage(requirements, rules, waivers);
const clientWaivers = read('client-waivers.json') as Record<string, string>;
const clientRules = [...allClientChecks, ...createClientInvariants()];
const clientCoverage = computeCoverage(requirements, clientRules, clientWaivers, ['client']);

describe('conformance rules', () => {
  it('covers every requirement on agents, cards and clients, or waives it with a reason', () => {
    expect([...coverage.missing, ...clientCoverage.missing]).toEqual([]);
  });

  it('waives no requirement that a rule covers', () => {
    expect([...coverage.stale, ...clientCoverage.stale]).toEqual([]);
  });

  it('names only requirements of the catalog', () => {
    expect([...coverage.unknown, ...clientCoverage.unknown]).toEqual([]);
  });

  it('assigns a unique id to each rule', () => {
    const ids = [...rules, ...clientRules].map(({ id }) => id);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  });

  it('matches the coverage page (update it with -u)', async () => {
    await expect(formatCoveragePage(coverage, clientCoverage)).toMatchFileSnapshot(
      '../docs/reference/conformance-coverage.md',
    );
  });
});

describe('computeCoverage', () => {
  const requirement = (id: string): Requirement => ({
    id,
    section: '1',
    level: 'MUST',
    transport: 'any',
    subject: 'server',
    summary: 'a | b',
    auto: true,
  });

  it('returns missing requirements, stale waivers and unknown requirement ids', () => {
    const found = computeCoverage(
      [
        requirement('A-1'),
        requirement('A-2'),
        requirement('A-3'),
        { ...requirement('A-4'), subject: 'client' },
      ],
      [{ id: 'a.one', requirements: ['A-1', 'B-1', '0.3/x'] }],
      { 'A-1': 'stale', 'A-2': 'a reason' },
    );
    expect(found.missing).toEqual(['A-3']);
    expect(found.stale).toEqual(['A-1']);
    expect(found.unknown).toEqual(['B-1']);
    expect(formatCoveragePage(found, found)).toContain(
      String.raw`| A-2 | 1 | MUST | a \| b | not checked: a reason |`,
    );
  });
});
