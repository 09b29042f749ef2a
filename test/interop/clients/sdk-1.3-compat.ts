import { TaskState } from 'sdk-1.3';
import { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from 'sdk-1.3/client';
import { GrpcTransportFactory } from 'sdk-1.3/client/grpc';
import { describe, expect, it } from 'vitest';
import { type InteropTarget, supportedBindings } from '../targets/interop-target.ts';
import { collect, say, text } from '../sdk-1.3-messages.ts';

const bindings = [
  { transport: 'JSONRPC', factory: new JsonRpcTransportFactory({ legacyCompat: { enabled: true } }) },
  { transport: 'HTTP+JSON', factory: new RestTransportFactory({ legacyCompat: { enabled: true } }) },
  { transport: 'GRPC', factory: new GrpcTransportFactory({ legacyCompat: { enabled: true } }) },
];

/** Declares the tests of the official 1.0 client in 0.3 mode. */
export function testSdk1_3InLegacyMode(target: InteropTarget): void {
  describe.each(supportedBindings(target, bindings))(
    `official 1.0 client in 0.3 mode over $transport, ${target.name}`,
    ({ factory, transport }) => {
      it('sends, streams and cancels', async () => {
        const server = await target.serve();
        const url = transport === 'GRPC' ? new URL(server.url).host : server.url;
        const legacy = { url, protocolBinding: transport, protocolVersion: '0.3', tenant: '' };
        const card: any = await (
          await fetch(`${server.url}/.well-known/agent-card.json`, {
            headers: { 'a2a-version': '1.0' },
          })
        ).json();
        const client = await new ClientFactory({ transports: [factory] }).createFromAgentCard({
          ...card,
          supportedInterfaces: [legacy],
        });
        expect(client.protocolVersion).toMatch(/^0\.3/);
        const task: any = await client.sendMessage(say('hello'));
        expect(task).toMatchObject({ status: { state: TaskState.TASK_STATE_COMPLETED } });
        expect(task.artifacts[0].parts).toMatchObject([text('hello')]);
        const events = await collect(client.sendMessageStream(say('stream')));
        expect(events.map(({ $case }) => $case).slice(0, 3)).toEqual([
          'task',
          'statusUpdate',
          'artifactUpdate',
        ]);
        const slow: any = await client.sendMessage(say('slow', {}, { returnImmediately: true }));
        const canceled = await client.cancelTask({ tenant: '', id: slow.id, metadata: undefined });
        expect(canceled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
        await server.stop();
      });
    },
  );
}
