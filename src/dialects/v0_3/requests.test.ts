import { describe, expect, it } from 'vitest';
import { A2AError } from '../../protocol/errors.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { type TranslationLoss, lenientMode, strictMode } from '../translation-loss.ts';
import { v0_3 } from './index.ts';

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;
const message = { messageId: 'm', role: 'user' as const, parts: [{ text: 'hi' }] };
const wire = { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'hi' }] };

function readSend(configuration: unknown): SendRequest {
  return v0_3.requests.send.read({ message: wire, configuration }, strictMode);
}

describe('v0_3 send request', () => {
  it.each([
    [undefined, undefined],
    [null, undefined],
    [{}, undefined],
    [{ blocking: true }, undefined],
    [{ blocking: null }, undefined],
    [{ blocking: false }, { returnImmediately: true }],
    [{ acceptedOutputModes: [] }, undefined],
    [{ historyLength: 0 }, { historyLength: 0 }],
    [{ historyLength: 3 }, { historyLength: 3 }],
  ])('reads the configuration %j as %j', (configuration, model) => {
    expect(readSend(configuration).configuration).toEqual(model);
  });

  it('rejects a negative historyLength', () => {
    expect(() => readSend({ historyLength: -1 })).toThrow('configuration.historyLength must be at least 0');
  });

  it('always writes blocking and acceptedOutputModes', () => {
    expect(plain(v0_3.requests.send.write({ message }))).toEqual({
      message: wire,
      configuration: { acceptedOutputModes: [], blocking: true },
    });
    const immediately = { message, configuration: { returnImmediately: true } };
    expect(plain(v0_3.requests.send.write(immediately))).toMatchObject({
      configuration: { blocking: false },
    });
  });

  it('records the loss of clientTaskId', () => {
    const losses: TranslationLoss[] = [];
    v0_3.requests.send.write({ message, clientTaskId: 't' }, losses);
    expect(losses).toEqual([expect.objectContaining({ path: 'clientTaskId', kind: 'dropped' })]);
  });

  it('reads the protocol buffer names request and pushNotification', () => {
    const params = { request: wire, configuration: { pushNotification: { url: 'https://h.test' } } };
    expect(v0_3.requests.send.read(params, strictMode)).toEqual({
      message,
      configuration: { pushConfig: { url: 'https://h.test' } },
    });
  });
});

describe('other v0_3 requests', () => {
  it('drop metadata and record a loss', () => {
    const losses: TranslationLoss[] = [];
    const params = { id: 't', metadata: { a: 1 } };
    v0_3.requests.getTask.read(params, { lenient: false, losses });
    v0_3.requests.subscribe.read(params, { lenient: false, losses });
    expect(losses.map(({ path }) => path)).toEqual(['metadata', 'metadata']);
    expect(v0_3.requests.cancelTask.read(params, strictMode)).toEqual(params);
  });

  it('distinguish a missing historyLength from 0', () => {
    expect(v0_3.requests.getTask.read({ id: 't' }, strictMode).historyLength).toBeUndefined();
    expect(v0_3.requests.getTask.read({ id: 't', historyLength: 0 }, strictMode).historyLength).toBe(0);
  });

  it('require the id of a push configuration only for delete', () => {
    expect(v0_3.requests.getPushConfig.read({ id: 't' }, strictMode)).toEqual({ taskId: 't' });
    expect(() => v0_3.requests.deletePushConfig.read({ id: 't' }, strictMode)).toThrow(
      'pushNotificationConfigId',
    );
  });

  it('record the loss of push configuration paging', () => {
    const losses: TranslationLoss[] = [];
    expect(v0_3.requests.listPushConfigs.write({ taskId: 't', pageToken: 'x' }, losses)).toEqual({ id: 't' });
    expect(losses).toHaveLength(1);
  });

  it('write no params for the extended card', () => {
    expect(v0_3.requests.extendedCard.write({})).toBeUndefined();
  });
});

describe('v0_3 push configuration', () => {
  const read = (authentication: unknown, losses: TranslationLoss[] = []): unknown =>
    v0_3.requests.createPushConfig.read(
      { taskId: 't', pushNotificationConfig: { id: 'p', url: 'https://h.test', authentication } },
      lenientMode(losses),
    ).authentication;

  it('uses the first scheme and records a loss', () => {
    const losses: TranslationLoss[] = [];
    expect(read({ schemes: ['Basic', 'Bearer'], credentials: 'x' }, losses)).toEqual({
      scheme: 'Basic',
      credentials: 'x',
    });
    expect(losses).toEqual([
      expect.objectContaining({ path: 'pushNotificationConfig.authentication.schemes', kind: 'dropped' }),
    ]);
  });

  it('reads credentials without scheme as bearer, and no scheme as absent', () => {
    expect(read({ schemes: [], credentials: 'x' })).toEqual({ scheme: 'Bearer', credentials: 'x' });
    expect(read({ schemes: [] })).toBeUndefined();
    expect(read(null)).toBeUndefined();
  });

  it('requires a url', () => {
    const params = { taskId: 't', pushNotificationConfig: { id: 'p' } };
    expect(() => v0_3.requests.createPushConfig.read(params, strictMode)).toThrow(
      'pushNotificationConfig.url',
    );
  });
});

describe('v0_3 rpcError', () => {
  it.each([
    ['UNSUPPORTED_OPERATION', -32004],
    ['EXTENDED_AGENT_CARD_NOT_CONFIGURED', -32007],
    ['EXTENSION_SUPPORT_REQUIRED', -32008],
    ['VERSION_NOT_SUPPORTED', -32009],
    ['UNAUTHENTICATED', -32600],
  ] as const)('write %s as %i and read it again', (reason, code) => {
    const error = v0_3.rpcError.write(new A2AError(reason));
    expect(error.code).toBe(code);
    expect(v0_3.rpcError.read(plain(error)).reason).toBe(reason);
  });

  it.each([
    [{ code: -32001, message: 'x' }, undefined, 'TASK_NOT_FOUND'],
    [{ code: -32006, message: 'x' }, 200, 'INVALID_AGENT_RESPONSE'],
    [{ code: -32600, message: 'x' }, 401, 'UNAUTHENTICATED'],
    [{ code: -32603, message: 'x' }, 503, 'UNAVAILABLE'],
    [{ code: -32603, message: 'x' }, 200, 'INTERNAL_ERROR'],
    [{ code: -32099, message: 'x' }, 200, 'INTERNAL_ERROR'],
    [null, 429, 'RESOURCE_EXHAUSTED'],
  ])('reads %j with status %j as %s', (error, status, reason) => {
    expect(v0_3.rpcError.read(error, status).reason).toBe(reason);
  });

  it('preserves unknown error codes', () => {
    const error = v0_3.rpcError.read({ code: -32099, message: 'Odd', data: { why: 'because' } });
    expect(error.details).toEqual({ code: '-32099', why: 'because' });
  });
});
