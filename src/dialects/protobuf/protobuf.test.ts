import { A2AService as service1_0 } from 'sdk-1.3/server/grpc';
import { A2AService as service0_3 } from 'sdk-0.3/server/grpc';
import { describe, expect, it } from 'vitest';
import { ByteReader, MalformedMessageError } from './byte-reader.ts';
import { decodeMessage } from './decode-message.ts';
import { encodeMessage } from './encode-message.ts';
import type { MessageType } from './message-type.ts';
import { messages0_3 } from './messages-0_3.ts';
import { messages1_0 } from './messages-1_0.ts';

const roundTrip = (type: MessageType, json: unknown) => decodeMessage(type, encodeMessage(type, json));

const message = {
  messageId: 'm-1',
  contextId: 'c',
  taskId: 't',
  role: 'ROLE_USER',
  parts: [
    { text: 'größe 🙂', mediaType: 'text/plain' },
    { text: '' },
    { raw: 'AAECAw==', filename: 'a.bin' },
    { url: 'https://example.com/x' },
    { data: { list: [1, -2.5, null, true, 'x', { deep: {} }], ['__proto__']: 'own' } },
    { data: null },
  ],
  metadata: { a: 1, b: ['x', false], long: 'y'.repeat(300) },
  extensions: ['urn:a'],
  referenceTaskIds: ['t-0'],
};

describe('protocol buffers of 1.0', () => {
  it('keep a message with parts of all kinds', () => {
    expect(roundTrip(messages1_0.Message, message)).toEqual(message);
    expect(roundTrip(messages1_0.Part, { data: JSON.parse('{"__proto__":1}') as unknown })).toEqual({
      data: JSON.parse('{"__proto__":1}') as unknown,
    });
  });

  it('keep texts that are repeated, and texts of the same length that differ in one character', () => {
    const id = 'task-0123456789';
    const others = Array.from(id, (_, i) => `${id.slice(0, i)}x${id.slice(i + 1)}`);
    const umlauts = `${id.slice(0, 4)}ä${id.slice(6)}`;
    for (const contextId of [id, id, ...others, id, umlauts, umlauts, id, ...others])
      expect(roundTrip(messages1_0.Message, { contextId })).toEqual({ contextId });
    const invalid = encodeMessage(messages1_0.Message, { contextId: id });
    invalid[8] = 0xff;
    expect(() => decodeMessage(messages1_0.Message, invalid)).toThrow('a text is not UTF-8');
  });

  it('leave out defaults, except of fields with presence', () => {
    expect(
      roundTrip(messages1_0.ListTasksRequest, { contextId: '', pageSize: 0, includeArtifacts: false }),
    ).toEqual({ pageSize: 0, includeArtifacts: false });
    expect(encodeMessage(messages1_0.TaskArtifactUpdateEvent, { append: false })).toHaveLength(0);
  });

  it.each([
    '2025-01-02T03:04:05Z',
    '2025-01-02T03:04:05.120Z',
    '1969-12-31T23:59:59.999999Z',
    '0001-01-01T00:00:00Z',
  ])('keep the timestamp %s', (timestamp) => {
    expect(roundTrip(messages1_0.TaskStatus, { timestamp })).toEqual({ timestamp });
  });

  it('read the last of several alternatives, and merge messages that occur twice', () => {
    const bytes = (json: unknown) => encodeMessage(messages1_0.Part, json);
    const both = new Uint8Array([...bytes({ text: 'a' }), ...bytes({ url: 'b' })]);
    expect(decodeMessage(messages1_0.Part, both)).toEqual({ url: 'b' });
    const status = (json: unknown) => encodeMessage(messages1_0.Task, { status: json });
    const merged = new Uint8Array([
      ...status({ state: 'TASK_STATE_WORKING' }),
      ...status({ timestamp: '2025-01-01T00:00:00Z' }),
    ]);
    expect(decodeMessage(messages1_0.Task, merged)).toEqual({
      status: { state: 'TASK_STATE_WORKING', timestamp: '2025-01-01T00:00:00Z' },
    });
  });

  it('merge lists, maps and alternatives of a message that occurs twice', () => {
    const artifact = (json: unknown) =>
      encodeMessage(messages1_0.TaskArtifactUpdateEvent, { artifact: json });
    const bytes = new Uint8Array([
      ...artifact({ artifactId: 'a', parts: [{ text: 'x' }] }),
      ...artifact({ parts: [{ url: 'y' }], extensions: ['e'] }),
    ]);
    expect(decodeMessage(messages1_0.TaskArtifactUpdateEvent, bytes)).toEqual({
      artifact: { artifactId: 'a', parts: [{ text: 'x' }, { url: 'y' }], extensions: ['e'] },
    });
    const flows = (json: unknown) => encodeMessage(messages1_0.OAuth2SecurityScheme, { flows: json });
    const scopes = (...names: string[]) => ({ scopes: Object.fromEntries(names.map((name) => [name, ''])) });
    const twice = [...flows({ implicit: scopes('a') }), ...flows({ implicit: scopes('b') })];
    expect(decodeMessage(messages1_0.OAuth2SecurityScheme, new Uint8Array(twice))).toEqual({
      flows: { implicit: scopes('a', 'b') },
    });
    const replaced = [...twice, ...flows({ clientCredentials: scopes('c') })];
    expect(decodeMessage(messages1_0.OAuth2SecurityScheme, new Uint8Array(replaced))).toEqual({
      flows: { clientCredentials: scopes('c') },
    });
  });

  it('tell ids apart that differ in one character', () => {
    const ids = Array.from({ length: 500 }, (_, n) => `task-${String(n).padStart(20, '0')}-end`);
    for (const id of [
      ...ids,
      ...ids,
      'ä'.repeat(12),
      'short',
      'x'.repeat(64),
      'x'.repeat(65),
      'x'.repeat(200),
    ])
      expect(roundTrip(messages1_0.Task, { id })).toEqual({ id });
    const truncated = encodeMessage(messages1_0.Task, { id: ids[0] }).subarray(0, 20);
    expect(() => decodeMessage(messages1_0.Task, truncated)).toThrow(MalformedMessageError);
  });

  it('skip unknown fields and keep unknown values of enumerations as numbers', () => {
    const unknown = [0xfa, 0x3f, 2, 1, 2, 0xfb, 0x3f, 8, 1, 0xfc, 0x3f, 0xfd, 0x3f, 1, 2, 3, 4];
    expect(decodeMessage(messages1_0.TaskStatus, Uint8Array.from([...unknown, 8, 99]))).toEqual({
      state: 99,
    });
    expect(encodeMessage(messages1_0.TaskStatus, { state: 99 })).toEqual(Uint8Array.of(8, 99));
  });

  it.each<[string, number[]]>([
    ['ends within a field', [0x0a, 5, 65]],
    ['ends within an integer', [0x80]],
    ['has an integer of 11 bytes', [8, ...Array<number>(10).fill(0x80), 1]],
    ['has no such wire type', [0xff, 0x3f]],
    ['has text that is not UTF-8', [0x0a, 1, 0xff]],
    ['has a timestamp out of range', [0x1a, 7, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]],
  ])('reject a message that %s', (_what, bytes) => {
    const type = bytes[0] === 0x1a ? messages1_0.TaskStatus : messages1_0.Message;
    expect(() => decodeMessage(type, Uint8Array.from(bytes))).toThrow(MalformedMessageError);
  });

  it('reject values that are nested too deeply', () => {
    let data: unknown = 1;
    for (let n = 0; n < 200; n++) data = [data];
    expect(() => encodeMessage(messages1_0.Part, { data })).toThrow(MalformedMessageError);
    // Each level is a value that contains a list.
    let bytes: number[] = [];
    const length = (n: number): number[] => (n < 128 ? [n] : [(n & 127) | 128, n >> 7]);
    for (let n = 0; n < 200; n++)
      bytes = [
        0x32,
        ...length(bytes.length + 1 + length(bytes.length).length),
        0x0a,
        ...length(bytes.length),
        ...bytes,
      ];
    expect(() =>
      decodeMessage(messages1_0.Part, Uint8Array.from([0x22, ...length(bytes.length), ...bytes])),
    ).toThrow('nested');
  });

  it('name the field of a wrong type', () => {
    expect(() => encodeMessage(messages1_0.Task, { status: { state: 'NONE' } })).toThrow(
      'Task.status.state is not a known value',
    );
  });

  it('encode lengths of all sizes', () => {
    for (const size of [0, 1, 47, 48, 49, 126, 127, 128, 129, 16_383, 16_384, 100_000, 2_100_000]) {
      const text = 'ä'.repeat(size);
      expect(roundTrip(messages1_0.Task, { status: { message: { parts: [{ text }] } } })).toEqual({
        status: { message: { parts: [{ text }] } },
      });
    }
  });

  it('read signed integers', () => {
    expect(roundTrip(messages1_0.GetTaskRequest, { historyLength: -1 })).toEqual({ historyLength: -1 });
    expect(
      new ByteReader(Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1)).int64(),
    ).toBe(-1);
  });
});

/** The official code of a message, reached through the service: it serializes requests and responses. */
interface OfficialMethod {
  requestSerialize(value: unknown): Uint8Array;
  requestDeserialize(bytes: Uint8Array): unknown;
  responseSerialize(value: unknown): Uint8Array;
  responseDeserialize(bytes: Uint8Array): unknown;
}

describe('the official SDKs', () => {
  const plainMessage = { ...message, parts: message.parts.slice(0, 4) };
  const message0_3 = {
    messageId: 'm',
    role: 'ROLE_AGENT',
    content: [
      { text: 'x' },
      { file: { fileWithBytes: 'AAEC', mimeType: 'a/b' } },
      { data: { data: { a: [1] } } },
    ],
  };

  it.each([
    [
      '1.0',
      service1_0.sendMessage,
      messages1_0.SendMessageRequest,
      {
        tenant: 'x',
        message: plainMessage,
        configuration: { historyLength: 0, returnImmediately: true },
        metadata: { k: 'v' },
      },
    ],
    [
      '0.3',
      service0_3.sendMessage,
      messages0_3.SendMessageRequest,
      { message: message0_3, configuration: { blocking: true, acceptedOutputModes: ['text/plain'] } },
    ],
  ] as const)('read and write the same requests of %s', (_version, method, type, json) => {
    const official = method as unknown as OfficialMethod;
    const bytes = encodeMessage(type, json);
    const again = official.requestSerialize(official.requestDeserialize(Buffer.from(bytes)));
    expect(decodeMessage(type, again)).toEqual(json);
    expect(decodeMessage(type, bytes)).toEqual(json);
  });
});
