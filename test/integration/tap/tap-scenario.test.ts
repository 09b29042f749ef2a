import { describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { createEndpointCache } from '../../../src/client/discovery/endpoint-cache.ts';
import { defineAgent } from '../../../src/engine/index.ts';
import type { ProtocolVersion } from '../../../src/protocol/card.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { runTap, exportScenario, TrafficLog } from '../../../src/tap/index.ts';
import { readScenarios } from '../../../src/testkit/scenario/files/read-scenarios.ts';
import { openHarness } from '../../../src/testkit/scenario/harness/open-harness.ts';
import { runScenarios } from '../../../src/testkit/scenario/run-scenarios.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { recordsIn } from '../../support/tap/traffic-log.ts';

const open = closeAfterEach();

async function startAgent(agent = sampleAgent()): Promise<string> {
  const server = await serve(agent);
  open.push({ close: () => server.stop(0) });
  return server.url;
}

const say = (text: string) => ({
  message: { messageId: crypto.randomUUID(), role: 'user' as const, parts: [{ text }] },
});

/** Records calls of the sample agent. */
async function recordTraffic(
  url: string,
  version: ProtocolVersion,
  transport: 'JSONRPC' | 'HTTP+JSON' | 'GRPC',
): Promise<TrafficLog> {
  const log = new TrafficLog();
  const tap = await runTap({ to: url, trafficLog: log });
  const agent = connect(tap.url, {
    endpointCache: createEndpointCache(),
    versions: [version],
    transports: [transport],
  });
  await agent.send(say('hello'));
  await agent.send(say('fail'));
  for (const text of ['stream', 'two', 'ask', 'reject', `this is ${crypto.randomUUID()}`])
    for await (const event of agent.stream(say(text))) expect(event).toBeDefined();
  for await (const event of agent.stream(say('slow')))
    if (event.kind === 'status' && event.status.message) await agent.cancelTask({ id: event.taskId });
  await agent.close();
  await tap.stop();
  return log;
}

async function runRecorded(yaml: string): Promise<string[]> {
  const results = await runScenarios(readScenarios(yaml, 'recorded.yaml'), {
    openHarness: () => openHarness(),
  });
  return results.map(({ outcome }) => outcome);
}

describe('exportScenario', () => {
  it.each<[ProtocolVersion, 'JSONRPC' | 'HTTP+JSON' | 'GRPC']>([
    ['0.1', 'JSONRPC'],
    ['0.3', 'JSONRPC'],
    ['0.3', 'HTTP+JSON'],
    ['1.0', 'JSONRPC'],
    ['1.0', 'HTTP+JSON'],
    ['1.0', 'GRPC'],
  ])('passes with the same agent and fails with another (%s over %s)', async (version, transport) => {
    const url = await startAgent();
    const yaml = exportScenario(recordsIn(await recordTraffic(url, version, transport)));
    expect(yaml).toContain('matches: ^this is [\\s\\S]+?$');
    expect(await runRecorded(yaml)).toEqual(Array.from({ length: 8 }, () => 'passed'));
    const other = await startAgent(
      defineAgent({
        name: 'Other',
        description: 'Says something else',
        process: async () => 'something else',
      }),
    );
    expect(await runRecorded(yaml.replaceAll(url, other))).toEqual(Array.from({ length: 8 }, () => 'failed'));
  });

  it('knows the order of records of the same millisecond', async () => {
    const url = await startAgent();
    const records = recordsIn(await recordTraffic(url, '1.0', 'JSONRPC'));
    const yaml = exportScenario(records.map((each) => ({ ...each, at: 0 })));
    expect(await runRecorded(yaml)).toEqual(Array.from({ length: 8 }, () => 'passed'));
  });

  it.each<[ProtocolVersion]>([['1.0'], ['0.3'], ['0.1']])(
    'writes all turns of a conversation as one scenario (%s)',
    async (version) => {
      const url = await startAgent();
      const log = new TrafficLog();
      const tap = await runTap({ to: url, trafficLog: log });
      const agent = connect(tap.url, { endpointCache: createEndpointCache(), versions: [version] });
      let asked = { id: '', contextId: '' };
      for await (const event of agent.stream(say('ask')))
        if (event.kind !== 'message')
          asked = event.kind === 'task' ? event.task : { id: event.taskId, contextId: event.contextId };
      await agent.send({ message: { ...say('this one').message, taskId: asked.id } });
      await agent.getTask({ id: asked.id });
      await agent.send({ message: { ...say('more ${x}').message, contextId: asked.contextId } });
      await agent.getTask({ id: asked.id });
      await expect(agent.cancelTask({ id: asked.id })).rejects.toMatchObject({
        reason: 'TASK_NOT_CANCELABLE',
      });
      await agent.close();
      await tap.stop();
      const yaml = exportScenario(recordsIn(log));
      const [scenario, ...others] = readScenarios(yaml, 'recorded.yaml');
      expect(others).toEqual([]);
      const steps = scenario?.conversation?.conversation.steps ?? [];
      expect(steps.map(({ say: text, get, cancel }) => text ?? get ?? cancel)).toEqual([
        'ask',
        'this one',
        'current',
        'more $${x}',
        '${task1}',
        '${task1}',
      ]);
      expect(await runRecorded(yaml)).toEqual(['passed']);
      expect(await runRecorded(yaml.replaceAll('this one', 'that one'))).toEqual(['passed']);
      expect(await runRecorded(yaml.replace('state: completed', 'state: failed'))).toEqual(['failed']);
    },
  );

  it('repeats a stream that its client left, and states why a message is left out', async () => {
    const log = new TrafficLog();
    const url = await startAgent();
    const older = connect(url);
    let interruptedId = '';
    for await (const event of older.stream(say('ask')))
      if (event.kind === 'task') interruptedId = event.task.id;
    await older.close();
    const tap = await runTap({ to: url, trafficLog: log });
    const agent = connect(tap.url, { endpointCache: createEndpointCache() });
    for await (const event of agent.stream(say('slow')))
      if (event.kind === 'status' && event.status.message) break;
    await agent.send({ message: { ...say('this one').message, taskId: interruptedId } });
    await agent.close();
    await tap.stop();
    const yaml = exportScenario(recordsIn(log));
    expect(yaml).toContain('# Left out: "send: this one", because its task is older than the recording.');
    expect(yaml).toContain('until: working');
    expect(await runRecorded(yaml)).toEqual(['passed']);
    expect(() => exportScenario([])).toThrow('No message with a complete response was recorded');
  });
});
