import { afterEach, expect } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import type { ConnectOptions } from '../../../src/client/connect-options.ts';
import { type MeshServerOptions, serveOnMesh } from '../../../src/mesh/server/serve-on-mesh.ts';
import { connectMemoryBroker } from '../../../src/mesh/brokers/memory/connect-memory.ts';
import type { Agent } from '../../../src/protocol/agent.ts';
import type { LogEntry } from '../../../src/primitives/log.ts';
import { ManualClock } from '../clocks/manual-clock.ts';
import { MeshTestClient, schema0_3 } from './mesh-test-client.ts';
import { innerContext, innerTask, type RawScript, startRawAgent } from './raw-agent.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).toReversed()) await cleanUp();
  expect(schema0_3.findings).toEqual([]);
});

interface ProxiedAgentSetup {
  server?: Partial<MeshServerOptions>;
  connect?: ConnectOptions;
  middleware?: (agent: Agent) => Agent;
}

/** Starts a raw HTTP agent, serves it on the mesh as `Proxied`, and joins with a mesh client. */
export async function startProxiedAgent(script: RawScript, setup: ProxiedAgentSetup = {}) {
  const log: LogEntry[] = [];
  const broker = connectMemoryBroker();
  const server = await startRawAgent(script);
  const clock = new ManualClock();
  const agent = connect(server.url, { maxResumes: 0, maxRetries: 0, ...setup.connect });
  const client = await MeshTestClient.join(broker);
  const meshServer = await serveOnMesh(setup.middleware?.(agent) ?? agent, {
    broker,
    namespace: 'test_namespace',
    name: 'Proxied',
    clock,
    log: (entry) => log.push(entry),
    ...setup.server,
  });
  cleanups.push(
    () => broker.close(),
    () => agent.close(),
    () => server.close(),
    () => meshServer.close(),
  );
  return { client, server, log, clock, broker, meshServer };
}

/** Summarizes all messages of a task, such as `status task working`. */
export function publishedSummary(client: MeshTestClient, taskId: string): string[] {
  return client.repliesFor(taskId).map(({ channel, body }) => {
    if (body.error) return `${channel} error ${body.error.code}`;
    const { kind, status } = body.result;
    return `${channel} ${kind} ${status?.state ?? ''}`.trim();
  });
}

/** Returns the messages on the mesh that contain ids of the upstream agent. */
export function findInnerIds(client: MeshTestClient): string[] {
  return client.replies
    .map((each) => JSON.stringify(each.body))
    .filter((text) => text.includes(innerTask) || text.includes(innerContext));
}
