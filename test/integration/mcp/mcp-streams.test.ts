/** Disconnect of an MCP client over streams. */
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { bridge } from '../../../src/bridge/bridge.ts';
import { serveMcp } from '../../../src/bridge/mcp/server/serve-mcp.ts';
import { connect } from '../../../src/client/connect.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { closeAfterTest } from '../../support/bridge/bridge-fixtures.ts';
import { createMcpDemoAgent } from '../../support/bridge/mcp-demo-agent.ts';

it('cancels the task when the input stream ends during a call, even if everything is closed then', async () => {
  const demo = createMcpDemoAgent();
  const server = await serve(demo.agent);
  const remote = connect(server.url);
  const actions = await bridge({ agentName: 'demo', agent: remote });
  closeAfterTest(() => demo.agent.close());
  closeAfterTest(() => server.stop(0));
  const [input, output] = [new PassThrough(), new PassThrough()];
  const running = await serveMcp(actions, { stdio: { input, output } });
  const send = (message: object): void =>
    void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const started = new Promise<void>((resolve) => {
    let received = '';
    output.on('data', (text: Buffer) => {
      received += text.toString();
      if (received.includes('"begun"')) resolve();
    });
  });
  const clientParams = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };
  send({ id: 1, method: 'initialize', params: clientParams });
  send({ method: 'notifications/initialized' });
  const params = { name: 'demo_do', arguments: { prompt: 'slow' }, _meta: { progressToken: 1 } };
  send({ id: 2, method: 'tools/call', params });
  await started;
  input.end();
  await running.ended;
  // Like a program that exits.
  await running.close();
  await actions.close();
  await remote.close();
  expect(await demo.nextCanceledTask()).toBeTypeOf('string');
});
