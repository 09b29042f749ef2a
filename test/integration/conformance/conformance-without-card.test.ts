import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { buildReport, type ConformanceReport } from '../../../src/conformance/report/build-report.ts';
import { testConformance } from '../../../src/conformance/test-conformance.ts';
import { Redactor } from '../../../src/primitives/redaction/redaction.ts';
import { respondJson, startRawServer, type RawServerRequest } from '../../support/http/raw-server.ts';

type Respond = (request: RawServerRequest, response: ServerResponse) => void;

/** Tests a server with a few rules and returns the report. */
async function report(respond: Respond, only: readonly string[] = []): Promise<ConformanceReport> {
  const server = await startRawServer(respond);
  try {
    const outcome = await testConformance(server.url, { only, timeout: 5_000 });
    return buildReport(outcome, { suite: 'test', command: 'test', redactor: new Redactor() });
  } finally {
    await server.close();
  }
}

const findings = ({ categories }: ConformanceReport): string[] =>
  Object.values(categories)
    .flat()
    .filter(({ status }) => status === 'fail')
    .map(({ test, message = '' }) => `${test}: ${message.replace(/http:\S+:\d+/, '')}`);

/** An agent of 0.1 that completes every task. */
const respond0_1: Respond = ({ json: { id, method, params } }, response) => {
  const task = { id: params?.id, sessionId: 's', status: { state: 'completed' } };
  const error = { code: -32_601, message: 'Method not found' };
  respondJson(response, { jsonrpc: '2.0', id, ...(method === 'tasks/send' ? { result: task } : { error }) });
};

describe('dragoman conformance without a usable card', () => {
  const send =
    (status: number, type: string, text: string): Respond =>
    (_request, response) =>
      void response.writeHead(status, { 'content-type': type }).end(text);

  it.each([
    ['nothing', send(404, 'text/plain', 'no'), 'HTTP 404'],
    ['a page', send(200, 'text/html', '<p>Hi</p>'), 'the response is not JSON (text/html)'],
    ['a text', send(200, 'application/json', 'hello'), 'the response is not JSON (application/json)'],
    ['a list', send(200, 'application/json', '[]'), 'the response is JSON, but not an object'],
    [
      'a request for credentials',
      send(401, 'application/json', '{}'),
      'HTTP 401. Pass credentials with --header if the card requires them',
    ],
  ])('reports that the card is missing if there is %s', async (_what, respond, reason) => {
    const result = await report(respond);
    expect(findings(result)).toEqual([
      `card.found: There is no agent card at /.well-known/agent-card.json: ${reason}`,
    ]);
    const warned = result.categories.agentCard.filter(({ verdict }) => verdict === 'warn');
    expect(warned.map(({ test }) => test)).toEqual(reason.includes('401') ? ['card.public'] : []);
    expect(result).toMatchObject({ conformanceLevel: 'non-conformant', variants: [] });
    expect(result.unreachable).toBeUndefined();
    expect(result.warnings.join()).toContain('Only the card was tested');
  });

  it('reports the missing members of an empty card', async () => {
    const result = await report(send(200, 'application/json', '{}'), ['card']);
    expect(findings(result).map((each) => each.split(':')[0])).toContain('card.members');
    expect(result.conformanceLevel).toBe('non-conformant');
  });

  it.each([
    ['has no url', { name: 'Old', description: 'Old', authentication: {}, skills: [] }, 'card-0.1.fields'],
    ['is missing', undefined, 'card-before.found'],
  ])('tests an agent of 0.1 whose card %s', async (_what, card, rule) => {
    const respond: Respond = (request, response) => {
      if (request.method === 'POST') respond0_1(request, response);
      else if (card) respondJson(response, card);
      else response.writeHead(404).end();
    };
    const result = await report(respond, ['card-0.1', 'card-before', 'send.answers']);
    expect(result.variants.map(({ version, transport }) => `${version} ${transport}`)).toEqual([
      '0.1 JSONRPC',
    ]);
    expect(findings(result).map((each) => each.split(':')[0])).toContain(rule);
    expect(result.categories.lifecycle).toMatchObject([{ test: 'send.answers', status: 'pass' }]);
    expect(result.conformanceLevel).toBe('non-conformant');
  });
});
