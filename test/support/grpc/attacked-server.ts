/** A server of gRPC that is attacked, with all its errors. */
import { connect as connectHttp2 } from 'node:http2';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { Metrics } from '../../../src/metrics/metrics.ts';
import { memoryTaskStore } from '../../../src/store/memory-task-store.ts';
import { type RunningServer, type ServeOptions, serve } from '../../../src/server/node/serve.ts';
import { type Answer, call, errorOf, messagesOf, send } from './raw-calls.ts';
import { RawHttp2Connection } from './raw-http2.ts';

/** An attacked server. */
export interface AttackedServer {
  readonly server: RunningServer;
  readonly metrics: Metrics;
  /** Errors that no client should be able to cause. */
  readonly faults: unknown[];
  /** Opens a connection that is closed with the server. */
  connect(): RawHttp2Connection;
  /** Sends a message over a connection of its own. @returns the text of the answer */
  sendText(text: string): Promise<unknown>;
  close(): Promise<void>;
}

/** Starts an agent that repeats texts, or returns as many letters as a number says. */
export async function startAttackedServer(options: ServeOptions = {}): Promise<AttackedServer> {
  const faults: unknown[] = [];
  const noteFault = (fault: unknown): void => {
    faults.push(fault instanceof Error ? fault.stack : fault);
  };
  process.on('unhandledRejection', noteFault);
  process.on('uncaughtExceptionMonitor', noteFault);
  const agent = defineAgent(
    {
      name: 'Echo',
      description: 'Repeats',
      process: ({ text }) => (/^\d+$/.test(text) ? 'x'.repeat(Number(text)) : text || 'nothing'),
    },
    { taskStore: memoryTaskStore({ maxTasks: 1_000 }) },
  );
  const metrics = new Metrics();
  const server = await serve(agent, { ...options, metrics: { metrics }, onError: noteFault });
  const connections: RawHttp2Connection[] = [];
  return {
    server,
    metrics,
    faults,
    connect() {
      const connection = new RawHttp2Connection(server.port);
      connections.push(connection);
      return connection;
    },
    async sendText(text) {
      const session = connectHttp2(server.url);
      try {
        const answer: Answer = await call(session, 'SendMessage', send(text));
        const error = errorOf(answer);
        if (error) throw error;
        return messagesOf(answer)[0].task.artifacts[0].parts[0].text;
      } finally {
        session.destroy();
      }
    },
    async close() {
      for (const { socket } of connections) socket.destroy();
      await server.stop(0);
      await agent.close();
      process.off('unhandledRejection', noteFault);
      process.off('uncaughtExceptionMonitor', noteFault);
    },
  };
}
