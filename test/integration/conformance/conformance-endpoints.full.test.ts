import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { testConformance } from '../../../src/conformance/test-conformance.ts';
import { buildReport } from '../../../src/conformance/report/build-report.ts';
import { Redactor } from '../../../src/primitives/redaction/redaction.ts';
import { reportFormats, writeReport } from '../../../src/conformance/report/report-formats.ts';
import type { RunChecksOutcome } from '../../../src/conformance/run-checks.ts';
import { cliEntry, runNode } from '../../support/cli/run-command.ts';
import { testReachableAgent } from '../../support/conformance/reachable-agent.ts';
import { type RawServer, type RawServerRequest, startRawServer } from '../../support/http/raw-server.ts';

/** Maximum duration of the run in milliseconds, and maximum number of characters of its evidence. */
const limit = 20_000;
const memory = 50_000_000;

const cardOf = (url: string): object => ({
  name: 'Bad',
  description: 'Behaves badly',
  version: '1',
  supportedInterfaces: [
    { url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
  ],
  capabilities: { streaming: true, pushNotifications: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'bad', name: 'Bad', description: 'Bad', tags: ['bad'] }],
});

type Behaviour = (request: RawServerRequest, response: ServerResponse) => void;

/** Starts an agent with the given responses to all requests but, if it serves a valid card, those for the card. */
const startAgent = (behave: Behaviour, hasValidCard: boolean): Promise<RawServer> =>
  startRawServer((request, response, url) => {
    if (hasValidCard && request.path.startsWith('/.well-known/')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(cardOf(url)));
      return;
    }
    behave(request, response);
  });

function expectReport(outcome: RunChecksOutcome): void {
  const report = buildReport(outcome, { suite: 'dragoman 0', command: 'test', redactor: new Redactor() });
  for (const form of reportFormats) expect(writeReport(report, form).length).toBeGreaterThan(100);
  expect(report.conformanceLevel).toBe('non-conformant');
}

function heldBy({ results }: RunChecksOutcome): number {
  const exchanges = new Set(
    results.flatMap(({ violations }) => violations.flatMap((each) => each.exchanges)),
  );
  return [...exchanges].reduce(
    (sum, { body, frames }) => sum + body.length + JSON.stringify(frames).length,
    0,
  );
}

const endless: Behaviour = (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const frame =
    `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: { pad: 'x'.repeat(200) } })}\n\n`.repeat(200);
  const more = (): void => {
    while (!response.destroyed && response.write(frame));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
};

const behaviours: [string, Behaviour][] = [
  ['hangs', () => undefined],
  [
    'answers with pages of HTML',
    (_request, response) =>
      void response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><p>Hi</p>'),
  ],
  ['streams without end', endless],
  [
    'answers with garbage',
    (_request, response) =>
      void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(Buffer.from([0xff, 0xfe, 0, 1, 2, 0x7b])),
  ],
  [
    'answers with deep JSON',
    (_request, response) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end('['.repeat(100_000)),
  ],
  ['hangs up', (_request, response) => void response.destroy()],
];

describe('dragoman conformance with a malformed agent', () => {
  it.each(behaviours)(
    'returns a report in time and with bounded memory if the agent %s',
    async (_what, behave) => {
      await using agent = await startAgent(behave, true);
      const outcome = await testReachableAgent(agent.url);
      expect(outcome.unreachable).toBeUndefined();
      expect(outcome.milliseconds).toBeLessThan(limit);
      expect(
        outcome.results
          .filter(({ verdict }) => verdict === 'error')
          .map(({ rule, message }) => `${rule.id}: ${message}`),
      ).toEqual([]);
      expect(outcome.results.some(({ verdict }) => verdict === 'fail')).toBe(true);
      expect(heldBy(outcome)).toBeLessThan(memory);
      expectReport(outcome);
    },
    60_000,
  );

  it.each(behaviours)(
    'returns a verdict about the card, or none, if the agent %s instead of serving a card',
    async (what, behave) => {
      await using agent = await startAgent(behave, false);
      const isSilent = what.startsWith('hangs');
      const outcome = isSilent
        ? await testConformance(agent.url, { timeout: 500, maxTime: 4_000 })
        : await testReachableAgent(agent.url);
      expect(outcome.unreachable).toEqual(isSilent ? expect.any(String) : undefined);
      const failed = outcome.results.filter(({ verdict }) => verdict === 'fail').map(({ rule }) => rule.id);
      expect(failed).toEqual(isSilent ? [] : ['card.found']);
      expect(outcome.milliseconds).toBeLessThan(limit);
      expectReport(outcome);
    },
    60_000,
  );

  it('returns no verdict and the reason if the agent is unreachable', async () => {
    const outcome = await testConformance('http://127.0.0.1:9', { timeout: 2_000 });
    expect(outcome.unreachable).toContain('ECONNREFUSED');
    expectReport(outcome);
  });
});

it('dragoman conformance uses bounded memory for an agent that streams without end', async () => {
  const chatty = await startRawServer((request, response, url) => {
    const isCard = request.path.startsWith('/.well-known/');
    response.writeHead(200, { 'content-type': isCard ? 'application/json' : 'text/event-stream' });
    const card = {
      name: 'Chatty',
      supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    };
    if (isCard) response.end(JSON.stringify(card));
    const text = `data: {"pad":"${'x'.repeat(1_000)}"}\n\n`.repeat(50);
    const more = (): void => {
      while (!response.destroyed && response.write(text));
      if (!response.destroyed) response.once('drain', more);
    };
    if (!isCard) more();
  });
  const test = (maxTime: number) => {
    const limits = ['--timeout', '5', '--max-time', String(maxTime)];
    return runNode(['--max-old-space-size=256', cliEntry, 'conformance', chatty.url, ...limits], {}).ended;
  };
  // On a slow machine no rule may be decided in five seconds.
  const first = await test(5);
  const { code, stdout } = first.code === 1 ? first : await test(60);
  expect(stdout).toContain('Chatty: non-conformant');
  expect(code).toBe(1);
  await chatty.close();
});
