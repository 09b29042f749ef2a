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

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
  expect(schema0_3.findings).toEqual([]);
});

interface Setup {
  face?: Partial<MeshServerOptions>;
  connect?: ConnectOptions;
  around?: (agent: Agent) => Agent;
}

/** An agent over HTTP, shown on the mesh as `Proxied`, and somebody who asks. */
export async function startProxiedAgent(script: RawScript, setup: Setup = {}) {
  const log: LogEntry[] = [];
  const link = connectMemoryBroker();
  const server = await startRawAgent(script);
  const clock = new ManualClock();
  const agent = connect(server.url, { maxResumes: 0, maxRetries: 0, ...setup.connect });
  const caller = await MeshTestClient.join(link);
  const face = await serveOnMesh(setup.around?.(agent) ?? agent, {
    broker: link,
    namespace: 'test_namespace',
    name: 'Proxied',
    clock,
    log: (entry) => log.push(entry),
    ...setup.face,
  });
  ends.push(
    () => link.close(),
    () => agent.close(),
    () => server.close(),
    () => face.close(),
  );
  return { caller, server, log, clock, link, face };
}

/** Everything that was published about a task, as short words. */
export function publishedSummary(caller: MeshTestClient, taskId: string): string[] {
  return caller.of(taskId).map(({ place, body }) => {
    if (body.error) return `${place} error ${body.error.code}`;
    const { kind, status: at } = body.result;
    return `${place} ${kind} ${at?.state ?? ''}`.trim();
  });
}

/** Everything that the mesh saw must be in its own names. */
export function expectNoInnerIds(caller: MeshTestClient): string[] {
  return caller.returned
    .map((each) => JSON.stringify(each.body))
    .filter((text) => text.includes(innerTask) || text.includes(innerContext));
}
