// Echo agent built with the official SDK for 0.3: `node sdk-0.3.mjs PORT`. The text `pid` returns the process id.
import express from 'express';
import { DefaultRequestHandler, InMemoryTaskStore } from 'sdk-0.3/server';
import { agentCardHandler, jsonRpcHandler } from 'sdk-0.3/server/express';

const port = Number(process.argv[2]);
const card = {
  protocolVersion: '0.3.0',
  name: 'Echo 0.3',
  description: 'Says it back',
  url: `http://127.0.0.1:${port}/rpc`,
  preferredTransport: 'JSONRPC',
  version: '1.0.0',
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'echo', name: 'Echo', description: 'Says it back', tags: ['test'] }],
};
const executor = {
  async execute({ userMessage, contextId }, bus) {
    const input = userMessage.parts[0]?.text ?? '';
    const text = input === 'pid' ? String(process.pid) : input;
    bus.publish({
      kind: 'message',
      role: 'agent',
      messageId: crypto.randomUUID(),
      parts: [{ kind: 'text', text }],
      contextId,
    });
    bus.finished();
  },
  async cancelTask() {},
};
const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
const userBuilder = async () => ({ isAuthenticated: false, userName: '' });
const app = express();
app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
app.use('/rpc', jsonRpcHandler({ requestHandler, userBuilder }));
app.listen(port, '127.0.0.1', (error) => {
  if (error) throw error;
  process.stdout.write(`listening on ${port}\n`);
});
