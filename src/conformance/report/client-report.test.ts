import { expect, it } from 'vitest';
import { Redactor } from '../../primitives/redaction/redaction.ts';
import { testClientConformance } from '../clients/test-client-conformance.ts';
import { createReferenceClient } from '../mutants/clients/reference-client.ts';
import { buildReport, listResults, readReport } from './build-report.ts';
import { writeReport } from './report-formats.ts';

it('writes what a client did into every report, without curl commands and credentials', async () => {
  const outcome = await testClientConformance(
    createReferenceClient('hides-errors', 'redirects-with-credentials'),
    {
      only: ['client-error.reported', 'client-auth.redirection'],
      variants: [{ version: '1.0', transport: 'JSONRPC' }],
      timeout: 60_000,
    },
  );
  const report = buildReport(outcome, { suite: 'suite 1', command: 'test', redactor: new Redactor() });
  expect(report).toMatchObject({
    subject: 'client',
    agentName: 'reference client',
    conformanceLevel: 'non-conformant',
  });
  const results = listResults(report);
  expect(results.map(({ test, status }) => [test, status])).toEqual([
    ['client-error.reported', 'fail'],
    ['client-auth.redirection', 'warn'],
  ]);
  expect(results[0]).toMatchObject({
    message: 'The client reported success: the agent responded with InvalidParams.',
    client: { operation: 'send', exitCode: 0, stdout: '', stderr: '' },
    transcript: [{ request: { method: 'GET' } }, { request: { method: 'POST' }, response: { status: 200 } }],
  });
  expect(results.every(({ curl }) => curl === undefined)).toBe(true);
  const json = writeReport(report, 'json');
  expect(readReport(json)).toEqual(report);
  expect(json).not.toMatch(/Bearer token-/);
  for (const format of ['markdown', 'junit', 'html'] as const)
    expect(writeReport(report, format)).toContain('operation send, exit code 0');
});
