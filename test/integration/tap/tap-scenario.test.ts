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

async function served(agent = sampleAgent()): Promise<string> {
  const server = await serve(agent);
  open.push({ close: () => server.stop(0) });
  return server.url;
}

const say = (text: string) => ({
  message: { messageId: crypto.randomUUID(), role: 'user' as const, parts: [{ text }] },
});

/** Records a conversation with the sample agent. */
async function recorded(
  url: string,
  version: ProtocolVersion,
  transport: 'JSONRPC' | 'HTTP+JSON',
): Promise<TrafficLog> {
  const tape = new TrafficLog();
  const tap = await runTap({ to: url, trafficLog: tape });
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
  return tape;
}

async function outcomes(yaml: string): Promise<string[]> {
  const results = await runScenarios(readScenarios(yaml, 'recorded.yaml'), {
    openHarness: () => openHarness(),
  });
  return results.map(({ outcome }) => outcome);
}

describe('a scenario of what was recorded', () => {
  it.each<[ProtocolVersion, 'JSONRPC' | 'HTTP+JSON']>([
    ['0.1', 'JSONRPC'],
    ['0.3', 'JSONRPC'],
    ['0.3', 'HTTP+JSON'],
    ['1.0', 'JSONRPC'],
    ['1.0', 'HTTP+JSON'],
  ])('passes with the same agent and fails with another: %s over %s', async (version, transport) => {
    const url = await served();
    const yaml = exportScenario(recordsIn(await recorded(url, version, transport)));
    expect(yaml).toContain('text_matches_regex: ^this is [\\s\\S]+?$');
    expect(await outcomes(yaml)).toEqual(Array.from({ length: 8 }, () => 'passed'));
    const other = await served(
      defineAgent({
        name: 'Other',
        description: 'Says something else',
        process: async () => 'something else',
      }),
    );
    expect(await outcomes(yaml.replaceAll(url, other))).toEqual(Array.from({ length: 8 }, () => 'failed'));
  });

  it('says why something is left out, and is none when nothing is left', async () => {
    const tape = new TrafficLog();
    const tap = await runTap({ to: await served(), trafficLog: tape });
    const agent = connect(tap.url, { endpointCache: createEndpointCache() });
    for await (const event of agent.stream(say('slow')))
      if (event.kind === 'status' && event.status.message) break;
    let asked = '';
    for await (const event of agent.stream(say('ask'))) if (event.kind === 'task') asked = event.task.id;
    await agent.send({ message: { ...say('this one').message, taskId: asked } });
    await agent.close();
    await tap.stop();
    const yaml = exportScenario(recordsIn(tape));
    expect(yaml).toContain('# Left out: "stream: slow", because it did not end while it was recorded.');
    expect(yaml).toContain(
      '# Left out: "send: this one", because it goes on with a task, which will be another one.',
    );
    expect(readScenarios(yaml, 'recorded.yaml').map(({ id }) => id)).toEqual(['sample-ask']);
    const slow = recordsIn(tape).filter(({ exchangeId: trip }) => trip === recordsIn(tape)[2]?.exchangeId);
    expect(() => exportScenario(slow)).toThrow('Nothing in it can be said again');
    expect(() => exportScenario([])).toThrow('Nothing in it can be said again');
  });
});
