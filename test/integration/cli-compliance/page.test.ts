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

const levels = [1, 2, 3] as const;
type Tier = (typeof levels)[number];
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
  const summary = levels.map((level) => {
    const all = rows[level].length;
    const isMet = count(level, 'pass') + count(level, 'na') === all;
    return `| ${level} ${tiers[level]} | ${all} | ${count(level, 'pass')} | ${count(level, 'partial')} | ${count(level, 'fail')} | ${count(level, 'na')} | ${isMet ? 'yes' : 'no'} |`;
  });
  const tables = levels.flatMap((level) => [
    '',
    `## Tier ${level}: ${tiers[level]}`,
    '',
    '| id | about | status | note |',
    '|---|---|---|---|',
    ...rows[level].map(
      ({ id, about, status, note }) => `| \`A2ACLI_${id}\` | ${about} | ${marks[status]} | ${note} |`,
    ),
  ]);
  return `# Compliance with the a2a-cli specification 0.2

Which requirements of the command-line specification of A2A (version 0.2, revision of 2026-08-17) the client commands of
\`dragoman\` meet. Each row that is passed or partial is a test that runs the built command against live agents; the words
are ours. \`npx vitest run test/integration/cli-compliance -u\` writes this page anew.

| field | value |
|---|---|
| tool | \`dragoman\`, TypeScript on Node |
| tier claimed | 1 |
| protocol versions | 1.0; 0.3, 0.2 and 0.1 when they are asked for |
| transports | JSON-RPC, HTTP+JSON |
| tested against | \`dragoman demo-server\`, agents scripted byte for byte, and guarded ones |

| tier | requirements | pass | partial | fail | n/a | satisfied |
|---|---|---|---|---|---|---|
${summary.join('\n')}
${tables.join('\n')}

## Defaults

| default | shipped | a flag changes it |
|---|---|---|
| transport: the order of the card | yes | \`--transport\` |
| completion: waits | yes | \`--async\` |
| output: text | yes | \`--output\` |
| detail: concise | yes | \`--verbose\` |
| version: the newest in common, never below 1.0 | yes | \`--a2a-version\` |
| transport security: certificates are checked | yes | \`--insecure\`, with a warning |

## Error codes

All eight codes are emitted: \`A2ACLI_ERR_USAGE\` (2), \`A2ACLI_ERR_CARD_NOT_FOUND\` (3), \`A2ACLI_ERR_CARD_INVALID\` (1),
\`A2ACLI_ERR_UNREACHABLE\` (3), \`A2ACLI_ERR_CREDENTIALS_MISSING\` (4), \`A2ACLI_ERR_AUTH_FAILED\` (4), \`A2ACLI_ERR_TIMEOUT\` (5)
and \`A2ACLI_ERR_INTERNAL\` (1). Errors that the protocol names keep that name, such as \`TaskNotFoundError\`, and end with 1.
`;
}

describe('the compliance page', () => {
  it('is made of these tests', async () => {
    await expect(page()).toMatchFileSnapshot('../../../docs/reference/a2a-cli-compliance-0.2.md');
  });

  const form = join(repositoryRoot, '../shared/cli/a2a-cli-compliance-0.2.md');
  const hasForm = existsSync(form);
  if (!hasForm) console.log('skipped: the compliance form of the specification is not here');
  it.skipIf(!hasForm)('has every row of the form, in its tier', () => {
    const text = readFileSync(form, 'utf8');
    const wanted = [...text.matchAll(/^## \d+\. Tier (\d)[^]*?(?=^## )/gm)].flatMap(([section, level]) =>
      [...section.matchAll(/^\| `A2ACLI_(\w+_\d+)`/gm)].map(([, id]) => `${level} ${id}`),
    );
    expect(wanted).toHaveLength(66);
    expect(levels.flatMap((level) => rows[level].map(({ id }) => `${level} ${id}`)).toSorted()).toEqual(
      wanted.toSorted(),
    );
  });
});
