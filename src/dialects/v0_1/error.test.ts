import { describe, expect, it } from 'vitest';
import { A2AError, errorTable, type ErrorReason } from '../../protocol/errors.ts';
import { v0_1 } from './index.ts';

const { rpcError, restError } = v0_1;

describe('v0_1 rpcError', () => {
  it.each([
    ['INVALID_AGENT_RESPONSE', -32603, -32006],
    ['EXTENDED_AGENT_CARD_NOT_CONFIGURED', -32004, -32007],
    ['EXTENSION_SUPPORT_REQUIRED', -32600, -32008],
    ['VERSION_NOT_SUPPORTED', -32600, -32009],
  ] as const)('writes %s with code %i and the later code in the data', (reason, code, a2aCode) => {
    expect(rpcError.write(new A2AError(reason))).toMatchObject({ code, data: { a2aCode, reason } });
    expect(rpcError.read({ code, message: 'x', data: { a2aCode } })).toMatchObject({ reason });
  });

  it.each([
    ['TASK_NOT_FOUND', -32001],
    ['TASK_NOT_CANCELABLE', -32002],
    ['PUSH_NOTIFICATION_NOT_SUPPORTED', -32003],
    ['UNSUPPORTED_OPERATION', -32004],
    ['CONTENT_TYPE_NOT_SUPPORTED', -32005],
  ] as const)('writes %s with code %i and no data', (reason, code) => {
    expect(rpcError.write(new A2AError(reason, 'x'))).toEqual({ code, message: 'x' });
  });

  it.each([
    [-32006, 'UNSUPPORTED_OPERATION'],
    [-32007, 'UNAUTHENTICATED'],
    [-32008, 'PERMISSION_DENIED'],
    [-32009, 'UNSUPPORTED_OPERATION'],
    [-32010, 'RESOURCE_EXHAUSTED'],
    [-32011, 'UNAVAILABLE'],
  ] as const)('reads code %i as in the prose of 0.1: %s', (code, reason) => {
    expect(rpcError.read({ code, message: 'x' })).toMatchObject({
      reason,
      details: { legacyCode: String(code) },
    });
  });

  it('round-trips every reason with details and violations', () => {
    for (const reason of Object.keys(errorTable) as ErrorReason[]) {
      const violations = [{ field: 'message', description: 'is wrong' }];
      const error = new A2AError(reason, 'x', { details: { taskId: 't' }, violations });
      const read = rpcError.read(JSON.parse(JSON.stringify(rpcError.write(error))));
      expect(read).toMatchObject({ reason, message: 'x', details: { taskId: 't' }, violations });
    }
  });

  it('reads the reason from the HTTP status without code and data', () => {
    expect(rpcError.read(undefined, 503)).toMatchObject({ reason: 'UNAVAILABLE' });
    expect(rpcError.read({ code: 7 })).toMatchObject({ reason: 'INTERNAL_ERROR' });
    expect(restError.read({ error: { code: -32001, message: 'x' } }, 400)).toMatchObject({
      reason: 'TASK_NOT_FOUND',
    });
    expect(restError.write(new A2AError('TASK_NOT_FOUND')).status).toBe(404);
  });
});
