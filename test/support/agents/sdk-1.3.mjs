// Echo agent built with the official SDK for 1.0: `node sdk-1.3.mjs PORT`. The text `pid` returns the process id.
import express from 'express';
import { Role } from 'sdk-1.3';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from 'sdk-1.3/server';
import { agentCardHandler, jsonRpcHandler } from 'sdk-1.3/server/express';

const port = Number(process.argv[2]);
const card = {
  name: 'Echo 1.0',
  description: 'Says it back',
  version: '1.0.0',
  supportedInterfaces: [
    { url: `http://127.0.0.1:${port}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' },
  ],
  capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false, extensions: [] },
  securitySchemes: {},
  securityRequirements: [],
  signatures: [],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [
    {
      id: 'echo',
      name: 'Echo',
      description: 'Says it back',
      tags: ['test'],
      examples: [],
      inputModes: [],
      outputModes: [],
      securityRequirements: [],
    },
  ],
};
const executor = {
  async execute({ userMessage, contextId }, bus) {
    const input = userMessage.parts[0]?.content?.value ?? '';
    const value = input === 'pid' ? String(process.pid) : input;
    bus.publish(
      AgentEvent.message({
        messageId: crypto.randomUUID(),
        contextId,
        taskId: '',
        role: Role.ROLE_AGENT,
        parts: [
          { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: 'text/plain' },
        ],
        metadata: undefined,
        extensions: [],
        referenceTaskIds: [],
      }),
    );
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
