import { describe, expect, it } from 'vitest';
import { createDriver } from '../../discovery/card-variants.ts';
import type { DriverOperation, OperationInput } from '../../drivers/protocol-driver.ts';
import { clientVariants } from '../detect-support.ts';
import { decodeGrpcCall, decodeRestCall, decodeRpcCall } from './decode-call.ts';
import type { ReceivedCall } from './received-request.ts';

const inputs: readonly [operation: DriverOperation, input: OperationInput][] = [
  ['send', { message: { text: 'hello', messageId: 'm-1', taskId: 't-1', contextId: 'c-1' } }],
  ['stream', { message: { text: 'hello', taskId: 't-1', contextId: 'c-1' } }],
  ['get', { id: 't-1' }],
  ['cancel', { id: 't-1' }],
  ['subscribe', { id: 't-1' }],
  ['createPush', { taskId: 't-1', webhook: { url: 'https://client.example/hook' } }],
  ['getPush', { taskId: 't-1', id: 'config-1' }],
  ['listPush', { taskId: 't-1' }],
  ['deletePush', { taskId: 't-1', id: 'config-1' }],
  ['extendedCard', {}],
];

/** Encodes a request with the driver of the suite and decodes it again. */
function transfer(
  { version, transport }: (typeof clientVariants)[number],
  operation: DriverOperation,
  input: OperationInput,
): ReceivedCall | undefined {
  const request = createDriver(version, transport, 'http://agent.invalid').encode(operation, input);
  if (!request) return undefined;
  const { pathname, search } = new URL(request.url);
  if (transport === 'GRPC') return decodeGrpcCall(pathname, Buffer.from(request.body ?? ''))?.call;
  const body = String(request.body ?? '');
  return transport === 'JSONRPC'
    ? decodeRpcCall(body, version)
    : decodeRestCall(request.method, pathname, search.slice(1), body);
}

describe.each(clientVariants)('requests of $version over $transport', (variant) => {
  const { version, transport } = variant;
  const driver = createDriver(version, transport, 'http://agent.invalid');
  it.each(inputs.filter((each) => driver.encode(...each)))('recognizes %s', (operation, input) => {
    const call = transfer(variant, operation, input);
    expect(call).toMatchObject({ ...variant, operation });
    if (input.message) expect(call?.message).toMatchObject({ taskId: 't-1', contextId: 'c-1' });
    else if (operation !== 'extendedCard') expect(call?.taskId).toBe('t-1');
  });
});

it('reads the tenant from the path of REST', () => {
  expect(decodeRestCall('GET', '/tenant%207/tasks/a%2Fb', '', '')).toMatchObject({
    version: '1.0',
    operation: 'get',
    tenant: 'tenant 7',
    taskId: 'a/b',
  });
});

it('recognizes no call in other requests', () => {
  expect(decodeRestCall('PUT', '/message:send', '', '{}')).toBeUndefined();
  expect(decodeRpcCall('[]', '1.0')).toBeUndefined();
  expect(decodeRpcCall('{"method": "tools/list"}', '1.0')).toBeUndefined();
  expect(decodeGrpcCall('/other.Service/Get', Buffer.alloc(0))).toBeUndefined();
});
