import { describe, expect, it } from 'vitest';
import type { A2AError } from '../../protocol/errors.ts';
import { compatKey } from '../compat-metadata.ts';
import { type TranslationLoss, lenientMode, strictMode } from '../translation-loss.ts';
import { v0_1 } from './index.ts';
import { unlimitedHistory } from './requests.ts';

/** Returns the JSON that a peer receives, without undefined members. */
const onWire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const hi = { role: 'user', parts: [{ type: 'text', text: 'hi' }] };
const { requests, results } = v0_1;

describe('v0_1 send request', () => {
  it('reads the task id as clientTaskId', () => {
    const request = requests.send.read({ id: 'cli-1', message: hi }, strictMode);
    expect(request.clientTaskId).toBe('cli-1');
    expect(request.message.taskId).toBeUndefined();
  });

  it('maps the session to the context of the message', () => {
    const request = requests.stream.read({ id: 'cli-1', sessionId: 's-1', message: hi }, strictMode);
    expect(request.message.contextId).toBe('s-1');
    expect(onWire(requests.stream.write(request))).toEqual({
      id: 'cli-1',
      sessionId: 's-1',
      message: { ...hi, metadata: { [compatKey]: { messageId: request.message.messageId } } },
      historyLength: 0,
    });
  });

  it('generates a new message id for each request without one', () => {
    const read = (): string => requests.send.read({ id: 'cli-1', message: hi }, strictMode).message.messageId;
    const first = read();
    expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(read()).not.toBe(first);
    const mode = { ...strictMode, newMessageId: () => 'given' };
    expect(requests.send.read({ id: 'cli-1', message: hi }, mode).message.messageId).toBe('given');
  });

  it('round-trips message id, extensions and references in the metadata', () => {
    const request = {
      clientTaskId: 't',
      message: {
        messageId: 'm-1',
        role: 'user' as const,
        parts: [{ text: 'hi' }],
        extensions: ['https://e.test/x'],
        referenceTaskIds: ['t-0'],
        metadata: { mine: 1 },
      },
      configuration: {},
    };
    const losses: TranslationLoss[] = [];
    const wire = onWire(requests.send.write(request, losses)) as { message: unknown };
    expect(wire.message).toEqual({
      ...hi,
      metadata: {
        mine: 1,
        [compatKey]: { messageId: 'm-1', extensions: ['https://e.test/x'], referenceTaskIds: ['t-0'] },
      },
    });
    expect(losses.map((loss) => loss.path)).toEqual([
      'message.messageId',
      'message.extensions',
      'message.referenceTaskIds',
    ]);
    expect(requests.send.read(wire, strictMode)).toEqual({
      ...request,
      configuration: { historyLength: undefined },
    });
  });

  it('writes the task id and records that 0.1 creates unknown tasks', () => {
    const losses: TranslationLoss[] = [];
    const message = { messageId: 'm', role: 'user' as const, parts: [{ text: 'hi' }], taskId: 't-7' };
    expect(requests.send.write({ message }, losses)).toMatchObject({ id: 't-7' });
    expect(losses).toContainEqual(expect.objectContaining({ path: 'message.taskId', kind: 'guessed' }));
  });

  it('derives a task id from the message id for retransmissions', () => {
    const message = { messageId: 'm', role: 'user' as const, parts: [{ text: 'hi' }] };
    const wire = requests.send.write({ message }) as { id: string };
    expect(wire.id).toHaveLength(36);
    expect(requests.send.write({ message })).toMatchObject({ id: wire.id });
    expect(requests.send.write({ message: { ...message, messageId: 'n' } })).not.toMatchObject({
      id: wire.id,
    });
  });

  it('maps output modes, push configuration and metadata', () => {
    const wire = {
      id: 'cli-1',
      message: { ...hi, metadata: { [compatKey]: { messageId: 'm' } } },
      acceptedOutputModes: ['text', 'application/pdf'],
      pushNotification: {
        url: 'https://h.test/',
        token: 'k',
        authentication: { schemes: ['Bearer'], credentials: 'c' },
      },
      historyLength: 3,
      metadata: { a: 1 },
    };
    const request = requests.send.read(wire, strictMode);
    expect(request.metadata).toEqual({ a: 1 });
    expect(request.configuration).toEqual({
      acceptedOutputModes: ['text/plain', 'application/pdf'],
      historyLength: 3,
      pushConfig: {
        id: 'cli-1',
        url: 'https://h.test/',
        token: 'k',
        authentication: { scheme: 'Bearer', credentials: 'c' },
      },
    });
    expect(onWire(requests.send.write(request))).toEqual({
      ...wire,
      acceptedOutputModes: ['text/plain', 'application/pdf'],
    });
  });

  it('reads configuration.blocking: false as returnImmediately', () => {
    const read = (configuration: unknown) =>
      requests.send.read({ id: 't', message: hi, configuration }, strictMode).configuration;
    expect(read({ blocking: false })).toMatchObject({ returnImmediately: true });
    for (const other of [undefined, null, {}, { blocking: true }, { blocking: 'false' }, 'x'])
      expect(read(other)).not.toHaveProperty('returnImmediately');
  });

  it('writes returnImmediately as configuration.blocking: false and records a loss', () => {
    const losses: TranslationLoss[] = [];
    const message = { messageId: 'm', role: 'user' as const, parts: [{ text: 'hi' }] };
    const wire = requests.send.write({ message, configuration: { returnImmediately: true } }, losses);
    expect(wire).toMatchObject({ configuration: { blocking: false } });
    expect(losses).toContainEqual(expect.objectContaining({ path: 'configuration.returnImmediately' }));
  });

  it.each([
    [{ message: hi }, 'id'],
    [{ id: 't', message: { role: 'user', parts: [] } }, 'message.parts'],
    [{ id: 't', message: { role: 'robot', parts: hi.parts } }, 'message.role'],
    [{ id: 't', message: { role: 'user', parts: [{ type: 'text' }] } }, 'message.parts[0].text'],
    [{ id: 't', message: { role: 'user', parts: [{ type: 'video' }] } }, 'message.parts[0].type'],
    [{ id: 't', message: hi, historyLength: -1 }, 'historyLength'],
  ])('names the invalid field of %j', (params, field) => {
    const thrown = (() => {
      try {
        return requests.send.read(params, strictMode);
      } catch (error) {
        return error as A2AError;
      }
    })();
    expect(thrown).toMatchObject({ reason: 'INVALID_PARAMS', violations: [{ field }] });
  });
});

describe('v0_1 historyLength', () => {
  it.each([
    [{ id: 't' }, 0],
    [{ id: 't', historyLength: null }, 0],
    [{ id: 't', historyLength: 0 }, 0],
    [{ id: 't', historyLength: 5 }, 5],
    [{ id: 't', historyLength: unlimitedHistory }, undefined],
  ])('reads %j as %j messages', (params, historyLength) => {
    expect(requests.getTask.read(params, strictMode)).toEqual({ id: 't', historyLength });
  });

  it('writes a large number for undefined, because a missing value means no history', () => {
    expect(requests.getTask.write({ id: 't' })).toEqual({ id: 't', historyLength: unlimitedHistory });
    expect(requests.getTask.write({ id: 't', historyLength: 0 })).toEqual({ id: 't', historyLength: 0 });
  });
});

describe('other v0_1 requests', () => {
  it('read and write cancel and resubscribe by id', () => {
    expect(requests.cancelTask.read({ id: 't', metadata: { a: 1 } }, strictMode)).toEqual({
      id: 't',
      metadata: { a: 1 },
    });
    expect(requests.subscribe.read({ id: 't', historyLength: 1, metadata: null }, strictMode)).toEqual({
      id: 't',
    });
    expect(requests.subscribe.write({ id: 't' })).toEqual({ id: 't' });
  });

  it('use the task id as id of a push configuration', () => {
    const wire = { id: 't', pushNotificationConfig: { url: 'https://h.test/' } };
    const config = { taskId: 't', id: 't', url: 'https://h.test/' };
    expect(requests.createPushConfig.read(wire, strictMode)).toEqual(config);
    expect(requests.getPushConfig.read({ id: 't' }, strictMode)).toEqual({ taskId: 't', id: 't' });
    expect(onWire(results.getPushConfig.write(config))).toEqual(wire);
    const losses: TranslationLoss[] = [];
    results.getPushConfig.write({ ...config, id: 'c-2' }, losses);
    expect(losses).toEqual([expect.objectContaining({ path: 'id', kind: 'dropped' })]);
  });

  it('use the first push scheme, and bearer for credentials without scheme', () => {
    const read = (authentication: unknown, losses: TranslationLoss[] = []): unknown =>
      results.getPushConfig.read(
        { id: 't', pushNotificationConfig: { url: 'https://h.test/', authentication } },
        lenientMode(losses),
      ).authentication;
    const losses: TranslationLoss[] = [];
    expect(read({ schemes: ['Basic', 'Bearer'], realm: 'x' }, losses)).toEqual({ scheme: 'Basic' });
    expect(losses.map((loss) => loss.path)).toEqual([
      'config.pushNotificationConfig.authentication.schemes',
      'config.pushNotificationConfig.authentication.realm',
    ]);
    expect(read({ schemes: [], credentials: 'c' })).toEqual({ scheme: 'Bearer', credentials: 'c' });
    expect(read({ schemes: [] })).toBeUndefined();
  });

  it.each(['listTasks', 'listPushConfigs', 'deletePushConfig', 'extendedCard'] as const)(
    'do not support %s',
    (operation) => {
      expect([...v0_1.methods.values()]).not.toContain(operation);
      const refused = expect.objectContaining({ reason: 'UNSUPPORTED_OPERATION' });
      expect(() => requests[operation].read({}, strictMode)).toThrow(refused);
      expect(() => requests[operation].write({} as never)).toThrow(refused);
      expect(() => results[operation].read({}, strictMode)).toThrow(refused);
    },
  );
});
