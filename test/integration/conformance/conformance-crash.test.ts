import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import {
  buildReport,
  type ConformanceReport,
  listResults,
} from '../../../src/conformance/report/build-report.ts';
import { testConformance } from '../../../src/conformance/test-conformance.ts';
import { Redactor } from '../../../src/primitives/redaction/redaction.ts';

/** An agent that does not catch the error of invalid JSON. It prints its port. */
const agentScript = `
const server = require('node:http').createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => (body += chunk));
  request.on('end', () => {
    const respond = (json) => response.setHeader('content-type', 'application/json').end(JSON.stringify(json));
    const url = 'http://127.0.0.1:' + server.address().port + '/';
    if (request.method === 'GET')
      return respond({
        name: 'Fragile', description: 'Ends on invalid JSON', version: '1', capabilities: {}, skills: [],
        defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'],
        supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      });
    const { id = null, jsonrpc, method } = JSON.parse(body) ?? {};
    const state = 'TASK_STATE_COMPLETED';
    if (jsonrpc !== '2.0' || typeof method !== 'string')
      respond({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'Invalid request' } });
    else if (method === 'SendMessage')
      respond({ jsonrpc: '2.0', id, result: { task: { id: 't', contextId: 'c', status: { state } } } });
    else respond({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });
  });
});
server.listen(Number(process.argv[1]), '127.0.0.1', () => console.log(server.address().port));
`;

let agent: ChildProcess | undefined;
afterEach(() => void agent?.kill());

/** Starts the agent and returns its port. */
async function startAgent(port = 0): Promise<number> {
  const started = spawn(process.execPath, ['-e', agentScript, String(port)], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  agent = started;
  const [line] = (await once(started.stdout, 'data')) as [Buffer];
  return Number(String(line));
}

/** Tests the agent with the rules of JSON-RPC. */
async function testAgent(port: number, restartTimeout: number): Promise<ConformanceReport> {
  const outcome = await testConformance(`http://127.0.0.1:${port}`, {
    only: ['rpc.parse', 'rpc.unknown-method', 'rpc.version-mark', 'process', 'send.answers', 'card.found'],
    invariants: [],
    restartTimeout,
  });
  return buildReport(outcome, { suite: 'test', command: 'test', redactor: new Redactor() });
}

const verdicts = (report: ConformanceReport): Record<string, string> =>
  Object.fromEntries(listResults(report).map(({ test, verdict }) => [test, verdict]));

it('reports the request that ends the process of the agent, and blames no other rule', async () => {
  const report = await testAgent(await startAgent(), 100);
  expect(verdicts(report)).toEqual({
    'send.answers': 'pass',
    'card.found': 'pass',
    'rpc.parse': 'inconclusive',
    'rpc.unknown-method': 'inconclusive',
    'rpc.version-mark': 'inconclusive',
    'process.survives': 'fail',
  });
  const crash = listResults(report).find(({ test }) => test === 'process.survives');
  expect(crash).toMatchObject({ critical: true, version: '1.0', transport: 'JSONRPC' });
  expect(crash?.message).toMatch(
    /^The process of the agent ended after POST .*\{"jsonrpc": "2.0", "id": 1, "method": $/,
  );
  expect(crash?.transcript?.[0]?.request.body).toBe('{"jsonrpc": "2.0", "id": 1, "method": ');
  expect(report.conformanceLevel).toBe('non-conformant');
  expect(report.warnings).toContain('The process of the agent ended once during the run.');
});

it('continues after the agent is restarted', async () => {
  const port = await startAgent();
  const restart = (): void => {
    agent?.once('exit', () => void startAgent(port).then(restart));
  };
  restart();
  const report = await testAgent(port, 60_000);
  agent?.removeAllListeners('exit');
  expect(verdicts(report)).toMatchObject({
    'rpc.parse': 'inconclusive',
    'rpc.unknown-method': 'pass',
    'rpc.version-mark': 'pass',
    'process.survives': 'fail',
  });
});
