import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { repositoryRoot } from '../../support/cli/run-command.ts';
import { advanced } from './advanced.ts';
import { messages } from './core-messages.ts';
import { output } from './core-output.ts';
import { settings } from './core-settings.ts';
import type { Row, Status } from './row.ts';
import { standard } from './standard.ts';

const tierNumbers = [1, 2, 3] as const;
type Tier = (typeof tierNumbers)[number];
const rows: { readonly [tier in Tier]: readonly Row[] } = {
  1: [...messages, ...output, ...settings],
  2: standard,
  3: advanced,
};

const marks: { [status in Status]: string } = {
  pass: '✅ pass',
  partial: '◐ partial',
  fail: '❌ fail',
  na: '— n/a',
};
const tiers = { 1: 'Core', 2: 'Standard', 3: 'Advanced' } as const;

function page(): string {
  const count = (level: Tier, status: Status) => rows[level].filter((each) => each.status === status).length;
  const summary = tierNumbers.map((level) => {
    const all = rows[level].length;
    const isMet = count(level, 'pass') + count(level, 'na') === all;
    return `| ${level} ${tiers[level]} | ${all} | ${count(level, 'pass')} | ${count(level, 'partial')} | ${count(level, 'fail')} | ${count(level, 'na')} | ${isMet ? 'yes' : 'no'} |`;
  });
  const tables = tierNumbers.flatMap((level) => [
    '',
    `## Tier ${level}: ${tiers[level]}`,
    '',
    '| ID | Requirement | Status | Note |',
    '|---|---|---|---|',
    ...rows[level].map(
      ({ id, description, status, note }) =>
        `| \`A2ACLI_${id}\` | ${description} | ${marks[status]} | ${note} |`,
    ),
  ]);
  return `# Compliance with the a2a-cli specification 0.2

Compliance of the client commands with the A2A command-line specification (version 0.2, revision of 2026-08-17). Each row
with the status pass or partial is a test that runs the built command against running agents.
\`npx vitest run test/integration/cli-compliance -u\` regenerates this page.

| Field | Value |
|---|---|
| Tool | \`dragoman\`, TypeScript on Node |
| Claimed tier | 1 |
| Protocol versions | 1.0; 0.3, 0.2 and 0.1 with \`--a2a-version\` |
| Transports | JSON-RPC, HTTP+JSON, gRPC |
| Tested against | \`dragoman demo-server\`, scripted agents, and agents with authentication |

| Tier | Requirements | Pass | Partial | Fail | N/A | Satisfied |
|---|---|---|---|---|---|---|
${summary.join('\n')}
${tables.join('\n')}

## Defaults

| Default | Implemented | Overridden by |
|---|---|---|
| Transport: order of the card | yes | \`--transport\` |
| Completion: wait | yes | \`--async\` |
| Output: text | yes | \`--output\` |
| Detail: concise | yes | \`--verbose\` |
| Version: highest common version, at least 1.0 | yes | \`--a2a-version\` |
| Transport security: TLS verification | yes | \`--insecure\`, with a warning |

## Error codes

All eight codes are emitted: \`A2ACLI_ERR_USAGE\` (2), \`A2ACLI_ERR_CARD_NOT_FOUND\` (3), \`A2ACLI_ERR_CARD_INVALID\` (1),
\`A2ACLI_ERR_UNREACHABLE\` (3), \`A2ACLI_ERR_CREDENTIALS_MISSING\` (4), \`A2ACLI_ERR_AUTH_FAILED\` (4), \`A2ACLI_ERR_TIMEOUT\` (5)
and \`A2ACLI_ERR_INTERNAL\` (1). Protocol errors keep their A2A name, such as \`TaskNotFoundError\`, and exit with 1.
`;
}

describe('compliance page', () => {
  it('is generated from the rows', async () => {
    await expect(page()).toMatchFileSnapshot('../../../docs/reference/a2a-cli-compliance-0.2.md');
  });

  const template = join(repositoryRoot, '../shared/cli/a2a-cli-compliance-0.2.md');
  const hasTemplate = existsSync(template);
  if (!hasTemplate) console.log('skipped: the compliance template of the specification is not available');
  it.skipIf(!hasTemplate)('contains every requirement of the template in its tier', () => {
    const text = readFileSync(template, 'utf8');
    const expected = [...text.matchAll(/^## \d+\. Tier (\d)[^]*?(?=^## )/gm)].flatMap(([section, level]) =>
      [...section.matchAll(/^\| `A2ACLI_(\w+_\d+)`/gm)].map(([, id]) => `${level} ${id}`),
    );
    expect(expected).toHaveLength(66);
    expect(tierNumbers.flatMap((level) => rows[level].map(({ id }) => `${level} ${id}`)).toSorted()).toEqual(
      expected.toSorted(),
    );
  });
});
