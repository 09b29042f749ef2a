import { describe, expect, it } from 'vitest';
import type { Operation } from '../../protocol/agent.ts';
import type { RequestOf } from '../dialect.ts';
import { supportedVersions } from '../negotiation.ts';
import { definesOperation, readOperationRequest, writeOperationRequest } from './operation-request.ts';

const message = { messageId: 'm', role: 'user' as const, parts: [{ text: 'Hi' }] };
const requests: { [O in Operation]: RequestOf[O] } = {
  send: { message },
  stream: { message },
  getTask: { id: 'a/b', historyLength: 3 },
  listTasks: { contextId: 'c', pageSize: 2, includeArtifacts: true },
  cancelTask: { id: 'a' },
  subscribe: { id: 'a' },
  createPushConfig: { taskId: 'a', id: 'p', url: 'https://example.com/hook' },
  getPushConfig: { taskId: 'a', id: 'p' },
  listPushConfigs: { taskId: 'a' },
  deletePushConfig: { taskId: 'a', id: 'p' },
  extendedCard: {},
};
const destination = { url: 'http://localhost:4000/agents/x' };

describe('operation requests', () => {
  const variants = supportedVersions.flatMap((version) =>
    (['JSONRPC', 'HTTP+JSON', 'GRPC'] as const).flatMap((transport) =>
      (Object.keys(requests) as Operation[]).map((operation) => ({ version, transport, operation })),
    ),
  );

  it.each(variants.filter(definesOperation))(
    'reads what it writes: $operation in $version over $transport',
    (variant) => {
      const request = requests[variant.operation];
      const written = writeOperationRequest(variant, request, destination);
      // 0.1 has no message ids and no ids of configurations.
      const expected =
        variant.version === '0.1'
          ? 'message' in request
            ? { message: { parts: message.parts } }
            : 'id' in request && !('taskId' in request)
              ? { id: request.id }
              : { taskId: 'a' }
          : JSON.parse(JSON.stringify(request));
      expect(readOperationRequest(variant, written)).toMatchObject(expected);
    },
  );

  it('does not write operations that the version does not define', () => {
    const variant = { version: '0.1', transport: 'JSONRPC', operation: 'listTasks' } as const;
    expect(definesOperation(variant)).toBe(false);
    expect(() => writeOperationRequest(variant, {}, destination)).toThrow('A2A 0.1 over JSONRPC');
  });

  it('writes path, query and tenant of REST', () => {
    const variant = { version: '1.0', transport: 'HTTP+JSON', operation: 'getTask' } as const;
    const written = writeOperationRequest(variant, requests.getTask, { ...destination, tenant: 'acme' });
    expect(written).toMatchObject({
      method: 'GET',
      url: 'http://localhost:4000/agents/x/acme/tasks/a%2Fb?historyLength=3',
      headers: { 'a2a-version': '1.0' },
    });
    expect(written.body).toBeUndefined();
  });

  it('writes tenant and method of JSON-RPC and gRPC', () => {
    const tenant = { ...destination, tenant: 'acme' };
    const target = { version: '1.0', operation: 'cancelTask' } as const;
    expect(
      writeOperationRequest({ ...target, transport: 'JSONRPC' }, requests.cancelTask, tenant).body,
    ).toEqual({ jsonrpc: '2.0', id: 1, method: 'CancelTask', params: { tenant: 'acme', id: 'a' } });
    expect(
      writeOperationRequest({ ...target, transport: 'GRPC' }, requests.cancelTask, tenant),
    ).toMatchObject({
      url: 'http://localhost:4000/lf.a2a.v1.A2AService/CancelTask',
      body: { tenant: 'acme', id: 'a' },
    });
  });

  it('reports the invalid field', () => {
    const variant = { version: '1.0', transport: 'JSONRPC', operation: 'send' } as const;
    const body = { params: { message: { ...message, role: 'nobody' } } };
    expect(() => readOperationRequest(variant, { method: 'POST', url: destination.url, body })).toThrow(
      'message.role must be ROLE_USER or ROLE_AGENT',
    );
  });
});
