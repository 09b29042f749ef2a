/** gRPC at the gateway: how callers name an agent, who may call it, and a gateway between gRPC on both sides. */
import { ClientFactory } from 'sdk-1.3/client';
import { ClientFactory as ClientFactory0_3 } from 'sdk-0.3/client';
import { GrpcTransportFactory as GrpcTransportFactory0_3 } from 'sdk-0.3/client/grpc';
import { GrpcTransportFactory } from 'sdk-1.3/client/grpc';
import { describe, expect, it } from 'vitest';
import { bearer, connect, type ConnectOptions } from '../../../src/client/index.ts';
import { defineAgent } from '../../../src/engine/index.ts';
import { createGateway, type GatewayOptions } from '../../../src/gateway/gateway.ts';
import { createUpstream } from '../../../src/gateway/agents/upstream.ts';
import type { Task } from '../../../src/protocol/task.ts';
import { bearerAuth } from '../../../src/server/auth/schemes/bearer.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { say } from '../../interop/sdk-1.3-messages.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';

const open = closeAfterEach();

const createAgent = (name: string) =>
  defineAgent({
    name,
    description: '',
    process: ({ text, call }) => `${name}: ${text} ${call.tenant ?? ''}`,
  });

async function startGateway(names: readonly string[], options: GatewayOptions = {}) {
  const gateway = createGateway(options);
  for (const name of names) gateway.addAgent(name, { agent: createAgent(name) });
  const server = await gateway.listen();
  open.push({ close: () => server.stop(0) });
  return { gateway, ...server };
}

function connectTo(target: string, options: ConnectOptions = {}) {
  const agent = connect(target, { transports: ['GRPC'], ...options });
  open.push({ close: () => agent.close() });
  return agent;
}

const answer = (text: string) => ({ artifacts: [{ parts: [{ text }] }] });

describe('gRPC at the gateway', () => {
  it('finds the agent by the tenant of its card', async () => {
    const { url } = await startGateway(['one', 'two']);
    const two = connectTo(`${url}/agents/two`);
    expect(await two.send('hi')).toMatchObject(answer('two: hi '));
    expect(await two.describe()).toMatchObject({ transport: 'GRPC', version: '1.0', tenant: 'two' });
    expect(await connectTo(`${url}/agents/two`, { tenant: 'two/blue' }).send('hi')).toMatchObject(
      answer('two: hi blue'),
    );
  });

  it('serves the official client with nothing but the card', async () => {
    const { url } = await startGateway(['one', 'two']);
    const factory = new ClientFactory({
      transports: [new GrpcTransportFactory()],
      preferredTransports: ['GRPC'],
    });
    const client = await factory.createFromUrl(`${url}/agents/two/`);
    const result: any = await client.sendMessage(say('hi'));
    expect(JSON.stringify(result)).toContain('two: hi');
  });

  it('shows the same tasks over all transports', async () => {
    const { url } = await startGateway(['one', 'two']);
    const { id } = (await connectTo(`${url}/agents/one`).send('hi')) as Task;
    const overRpc = connectTo(`${url}/agents/one`, { transports: ['JSONRPC'] });
    expect(await overRpc.getTask({ id })).toMatchObject({ id });
    await expect(connectTo(`${url}/agents/two`).getTask({ id })).rejects.toMatchObject({
      reason: 'TASK_NOT_FOUND',
    });
  });

  it.each(['1.0', '0.3'] as const)('finds the agent of a %s caller by the metadata', async (version) => {
    const { url, port } = await startGateway(['one', 'two']);
    const headers = { 'dragoman-agent': 'two' };
    // Cards of 0.3 do not list gRPC, because they cannot name the agent.
    const byCard = version === '1.0' ? [`${url}/agents/two`] : [];
    for (const target of [`grpc://127.0.0.1:${port}`, ...byCard])
      expect(await connectTo(target, { versions: [version], headers }).send('hi')).toMatchObject(
        answer('two: hi '),
      );
    await expect(
      connectTo(`grpc://127.0.0.1:${port}`, {
        versions: [version],
        headers: { 'dragoman-agent': 'three' },
      }).send('hi'),
    ).rejects.toMatchObject({ reason: 'NOT_FOUND', message: expect.stringContaining('dragoman-agent') });
  });

  it('is called by the official 0.3 client with the metadata', async () => {
    const { url, port } = await startGateway(['one', 'two']);
    const factory = new ClientFactory0_3({
      transports: [new GrpcTransportFactory0_3()],
      preferredTransports: ['GRPC'],
    });
    const response = await fetch(`${url}/agents/two/.well-known/agent-card.json?version=0.3`);
    const wire = (await response.json()) as object;
    const card = { ...wire, url: `127.0.0.1:${port}`, preferredTransport: 'GRPC' };
    const client = await factory.createFromAgentCard(card as never);
    const message = { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'hi' }] };
    const call = (options?: object) => client.sendMessage({ message } as never, options);
    const result = await call({ serviceParameters: { 'dragoman-agent': 'two' } });
    expect(JSON.stringify(result)).toContain('two: hi');
    await expect(call()).rejects.toThrow('names no agent of this server');
  });

  it('finds the agent by the host, which is all that 0.3 has, or as the only one', async () => {
    const { port } = await startGateway(['one', 'two']);
    const target = `grpc://127.0.0.1:${port}`;
    const named = connectTo(target, { versions: ['0.3'], headers: { host: `two.localhost:${port}` } });
    expect(await named.send('hi')).toMatchObject(answer('two: hi '));
    for (const options of [{ versions: ['0.3' as const] }, { tenant: 'three' }])
      await expect(connectTo(target, options).send('hi')).rejects.toMatchObject({
        reason: 'NOT_FOUND',
        message: expect.stringContaining('names no agent'),
      });
    const single = await startGateway(['one']);
    expect(
      await connectTo(`grpc://127.0.0.1:${single.port}`, { versions: ['0.3'] }).send('hi'),
    ).toMatchObject(answer('one: hi '));
  });

  it('authenticates callers of all agents, however they are named', async () => {
    const auth = { authenticators: [bearerAuth({ tokens: { secret: 'tom' } })] };
    const { url, port } = await startGateway(['one', 'two'], { auth });
    expect(await connectTo(`${url}/agents/two`, { auth: bearer('secret') }).send('hi')).toMatchObject(
      answer('two: hi '),
    );
    for (const agent of [
      connectTo(`${url}/agents/two`),
      connectTo(`grpc://127.0.0.1:${port}`, { tenant: 'two' }),
      connectTo(`grpc://127.0.0.1:${port}`, { headers: { host: 'two.localhost' } }),
      connectTo(`grpc://127.0.0.1:${port}`),
    ])
      await expect(agent.send('hi')).rejects.toMatchObject({ reason: 'UNAUTHENTICATED' });
  });

  it('calls an agent over gRPC for a client over gRPC, and removes it after its last call', async () => {
    const server = await serve(createAgent('far'));
    open.push({ close: () => server.stop(0) });
    const upstream = createUpstream({ name: 'far', url: server.url, transport: 'GRPC' });
    open.push({ close: () => upstream.close() });
    const { gateway, url } = await startGateway(['one']);
    const entry = { agent: upstream.agent };
    gateway.addAgent('far', entry);
    const far = connectTo(`${url}/agents/far`);
    expect(await far.send('hi')).toMatchObject(answer('far: hi '));
    expect(await upstream.agent.describe()).toMatchObject({ transport: 'GRPC' });
    await gateway.removeAgent(entry);
    await expect(far.send('hi')).rejects.toMatchObject({ reason: expect.stringMatching(/NOT_FOUND/) });
  });

  it('is not listed and not accepted with `grpc: false`', async () => {
    const { url, port } = await startGateway(['one'], { grpc: false });
    const card = await connectTo(`${url}/agents/one`, { transports: undefined }).card();
    expect(card.interfaces.map(({ protocolBinding }) => protocolBinding)).not.toContain('GRPC');
    await expect(connectTo(`grpc://127.0.0.1:${port}`).send('hi')).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
    });
  });
});
