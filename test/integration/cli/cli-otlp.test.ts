/** Commands that send traces and metrics to an OpenTelemetry collector. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type RunningCommand, runDragoman, serveModule } from '../../support/cli/run-command.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { httpPost } from '../../support/http/http-calls.ts';
import { OtlpReceiver } from '../../support/tracing/otlp-receiver.ts';

const open = closeAfterEach();

async function startReceiver(): Promise<OtlpReceiver> {
  const receiver = await OtlpReceiver.start();
  open.push(receiver);
  return receiver;
}

function stopLater<T extends RunningCommand>(command: T): T {
  open.push({ close: () => command.stop('SIGKILL') });
  return command;
}

const params = { message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }] } };
const send = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params };
const headers = { 'a2a-version': '1.0' };

describe('export of telemetry', () => {
  it('sends one trace of a gateway and an agent, and the metrics of both, to the collector of the environment', async () => {
    const receiver = await startReceiver();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
    const agent = stopLater(await serveModule('examples/echo.js', [], { env }));
    const folder = await mkdtemp(join(tmpdir(), 'dragoman-otlp-'));
    open.push({ close: () => rm(folder, { recursive: true }) });
    const file = join(folder, 'gateway.yaml');
    await writeFile(file, `listen: 0\nagents:\n  echo: { url: "${agent.url}" }\n`);
    const gateway = stopLater(runDragoman(['gateway', '-c', file], { env }));
    const [, url = ''] = await gateway.prints(/^listening on (\S+)\n/);
    expect((await httpPost(`${url}/agents/echo`, send, headers)).status).toBe(200);
    // The commands send the rest when they stop.
    await gateway.stop();
    await agent.stop();

    const sent = receiver.spans.all.filter(({ name }) => /Send(Streaming)?Message|invoke_agent/.test(name));
    expect(new Set(sent.map(({ traceId }) => traceId)).size).toBe(1);
    expect(sent.map(({ name, service }) => `${service}: ${name}`).sort()).toEqual([
      expect.stringMatching(/^dragoman-gateway: Send/),
      expect.stringMatching(/^dragoman-gateway: Send/),
      expect.stringMatching(/^echo: Send/),
      expect.stringMatching(/^echo: invoke_agent /),
    ]);
    const find = (service: string, name: string) =>
      receiver.metrics.all.findLast((each) => each.service === service && each.name === name);
    const duration = find('echo', 'a2a.server.operation.duration');
    expect(duration).toMatchObject({ unit: 's', kind: 'histogram' });
    expect(
      duration?.points.find(({ attributes }) => attributes['a2a.method.name']?.startsWith('Send')),
    ).toMatchObject({
      attributes: { 'a2a.protocol.version': '1.0', 'a2a.protocol.binding': expect.any(String) },
      value: 1,
      bounds: expect.arrayContaining([0.01, 300]),
    });
    expect(find('echo', 'dragoman_tasks_total')?.points).toContainEqual({
      attributes: { state: 'completed' },
      value: 1,
    });
    expect(find('echo', 'gen_ai.invoke_agent.duration')?.points).toHaveLength(1);
    expect(find('dragoman-gateway', 'a2a.client.operation.duration')?.points[0]).toMatchObject({ value: 1 });
    expect(find('dragoman-gateway', 'dragoman_streams_open')).toMatchObject({ kind: 'gauge' });
  });
});
