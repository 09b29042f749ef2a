// Echo agent on the official @a2a-js/sdk (express), JSON-RPC + REST, 1.0 + 0.3. GRPC=1 serves gRPC instead.
import express from 'express';
import { TaskState } from 'sdk-1.3';
import { DefaultRequestHandler, InMemoryTaskStore, AgentEvent } from 'sdk-1.3/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from 'sdk-1.3/server/express';
import { card as baseCard, plan } from './floor-core.mjs';

const port = +process.env.PORT;
const legacy = process.env.LEGACY !== '0';
const card = baseCard(port);
if (legacy)
  card.supportedInterfaces.push(...card.supportedInterfaces.map((i) => ({ ...i, protocolVersion: '0.3' })));
if (process.env.GRPC)
  card.supportedInterfaces.push({
    url: `127.0.0.1:${port}`,
    protocolBinding: 'GRPC',
    protocolVersion: '1.0',
    tenant: '',
  });
const st = (state) => ({ state, timestamp: new Date().toISOString(), message: undefined });

class Echo {
  async execute(ctx, bus) {
    const { taskId, contextId, userMessage } = ctx;
    const text = userMessage.parts[0].content.value;
    const [cmd, n, wait] = plan(text);
    bus.publish(
      AgentEvent.task({
        id: taskId,
        contextId,
        status: st(TaskState.TASK_STATE_SUBMITTED),
        artifacts: [],
        history: [userMessage],
        metadata: undefined,
      }),
    );
    bus.publish(
      AgentEvent.statusUpdate({
        taskId,
        contextId,
        status: st(TaskState.TASK_STATE_WORKING),
        metadata: undefined,
      }),
    );
    if (cmd === 'hang') return new Promise(() => {});
    if (wait) await new Promise((r) => setTimeout(r, wait));
    const artifactId = crypto.randomUUID();
    const total = cmd === 'fan' ? n : n - 2;
    for (let i = 0; i < total; i++) {
      if (cmd !== 'stream') await new Promise(setImmediate);
      bus.publish(
        AgentEvent.artifactUpdate({
          taskId,
          contextId,
          append: i > 0,
          lastChunk: i === total - 1,
          metadata: undefined,
          artifact: {
            artifactId,
            name: 'echo',
            description: '',
            metadata: undefined,
            extensions: [],
            parts: [
              {
                content: { $case: 'text', value: text },
                metadata: undefined,
                filename: '',
                mediaType: 'text/plain',
              },
            ],
          },
        }),
      );
    }
    if (cmd !== 'stream') await new Promise(setImmediate);
    bus.publish(
      AgentEvent.statusUpdate({
        taskId,
        contextId,
        status: st(TaskState.TASK_STATE_COMPLETED),
        metadata: undefined,
      }),
    );
  }
  async cancelTask() {}
}
let store = new InMemoryTaskStore();
if (process.env.STORE) store = await (await import('./official-db.mjs')).open(process.env.STORE);
const requestHandler = new DefaultRequestHandler(card, store, new Echo());
const userBuilder = UserBuilder.noAuthentication;
const legacyCompat = { enabled: legacy };
if (process.env.GRPC) await serveGrpc();
else serveHttp();

function serveHttp() {
  const app = express();
  app.use(
    '/.well-known/agent-card.json',
    agentCardHandler({ agentCardProvider: requestHandler, legacyCompat }),
  );
  app.use('/a2a/jsonrpc', jsonRpcHandler({ requestHandler, userBuilder, legacyCompat }));
  app.use('/a2a/rest', restHandler({ requestHandler, userBuilder, legacyCompat }));
  app.listen(port, '127.0.0.1');
}

async function serveGrpc() {
  const { Server, ServerCredentials } = await import('@grpc/grpc-js');
  const { A2AService, grpcService } = await import('sdk-1.3/server/grpc');
  const server = new Server();
  server.addService(A2AService, grpcService({ requestHandler, userBuilder }));
  server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error) => {
    if (error) throw error;
  });
}
