/** A client of MCP at the other end of two streams, which goes away. */
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { bridge } from '../../../src/bridge/bridge.ts';
import { serveMcp } from '../../../src/bridge/mcp/server/serve-mcp.ts';
import { connect } from '../../../src/client/connect.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { closeAfterTest } from '../../support/bridge/bridge-fixtures.ts';
import { createMcpDemoAgent } from '../../support/bridge/mcp-demo-agent.ts';

it('a client whose stream ends in the middle of a call has its task canceled, though all is closed then', async () => {
  const demo = createMcpDemoAgent();
  const server = await serve(demo.agent);
  const remote = connect(server.url);
  const made = await bridge({ agentName: 'demo', agent: remote });
  closeAfterTest(() => demo.agent.close());
  closeAfterTest(() => server.stop(0));
  const [input, output] = [new PassThrough(), new PassThrough()];
  const running = await serveMcp(made, { stdio: { input, output } });
  const say = (message: object): void =>
    void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const begun = new Promise<void>((resolve) => {
    let heard = '';
    output.on('data', (text: Buffer) => {
      heard += text.toString();
      if (heard.includes('"begun"')) resolve();
    });
  });
  const hello = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };
  say({ id: 1, method: 'initialize', params: hello });
  say({ method: 'notifications/initialized' });
  const params = { name: 'demo_do', arguments: { prompt: 'slow' }, _meta: { progressToken: 1 } };
  say({ id: 2, method: 'tools/call', params });
  await begun;
  input.end();
  await running.ended;
  // As a program does that ends now.
  await running.close();
  await made.close();
  await remote.close();
  expect(await demo.nextCanceledTask()).toBeTypeOf('string');
});
