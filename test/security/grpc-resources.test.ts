/** Clients of gRPC that use the memory or the time of a server have the limits of HTTP. */
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { encodeMessage } from '../../src/dialects/protobuf/encode-message.ts';
import { messages1_0 } from '../../src/dialects/protobuf/messages-1_0.ts';
import { basicAuth } from '../../src/server/auth/schemes/basic.ts';
import type { ServeOptions } from '../../src/server/node/serve.ts';
import { closeAfterEach } from '../support/close-after-each.ts';
import { type AttackedServer, startAttackedServer } from '../support/grpc/attacked-server.ts';
import { call, errorOf, frame, messagesOf, send, service } from '../support/grpc/raw-calls.ts';
import { callHeaders, connectionStart, frameTypes, http2Frame, setting } from '../support/grpc/raw-http2.ts';

const open = closeAfterEach();

async function start(
  options: ServeOptions,
): Promise<{ attacked: AttackedServer; session: ClientHttp2Session }> {
  const attacked = await startAttackedServer(options);
  open.push(attacked);
  const session = connectHttp2(attacked.server.url);
  session.on('error', () => {});
  open.push({ close: async () => session.destroy() });
  return { attacked, session };
}

const counted = ({ metrics }: AttackedServer, name: string): number => {
  const line = metrics.registry
    .text()
    .split('\n')
    .find((each) => each.startsWith(`${name} `));
  return Number(line?.split(' ')[1] ?? 0);
};

const limitOf = async (
  session: ClientHttp2Session,
  method: string,
  body: Uint8Array,
  metadata: { readonly [name: string]: string } = {},
): Promise<string | undefined> => errorOf(await call(session, method, body, metadata))?.details.limit;

const basic = (password: string) => ({
  authorization: `Basic ${Buffer.from(`alice:${password}`).toString('base64')}`,
});
const auth = { authenticators: [basicAuth({ users: { alice: 'correct' } })] };

/** Opens a call that sends a message and opens no window for its response. */
function sendWithoutReading(
  attacked: AttackedServer,
  body: Uint8Array,
): ReturnType<AttackedServer['connect']> {
  const connection = attacked.connect();
  connection.write(connectionStart(setting(4, 0)), callHeaders(1, `${service}SendMessage`));
  connection.write(http2Frame(frameTypes.data, 1, 1, body));
  return connection;
}

describe('unread responses', () => {
  it('are limited in bytes per client', async () => {
    const { attacked, session } = await start({ limits: { outputBytesPerClient: 5_000_000 } });
    const idle = [1, 2].map(() => sendWithoutReading(attacked, send('2000000')));
    await expect.poll(() => counted(attacked, 'dragoman_unsent_bytes')).toBeGreaterThan(4_000_000);
    expect(await limitOf(session, 'SendMessage', send('2000000'))).toBe('outputBytes');
    // Clients that disconnect cannot open a window later.
    for (const { socket } of idle) socket.destroy();
    await expect.poll(() => counted(attacked, 'dragoman_unsent_bytes'), { timeout: 15_000 }).toBe(0);
    expect(await limitOf(session, 'SendMessage', send('2000000'))).toBeUndefined();
  });

  it('are counted when they end after the stall timeout', async () => {
    const { attacked } = await start({ stallTimeout: 100 });
    const { socket } = sendWithoutReading(attacked, send('300000'));
    const name = 'dragoman_limits_hit_total{limit="stallTimeout"}';
    await expect.poll(() => counted(attacked, name)).toBe(1);
    await expect.poll(() => counted(attacked, 'dragoman_unsent_bytes')).toBe(0);
    socket.destroy();
  });
});

describe('messages in transit', () => {
  /** Starts a call of 100,000 bytes that never arrives completely. */
  async function holdBytes(attacked: AttackedServer): Promise<void> {
    const connection = attacked.connect();
    connection.write(connectionStart(), callHeaders(1, `${service}SendMessage`));
    const message = frame(Buffer.alloc(200_000)).subarray(0, 100_000);
    for (let at = 0; at < message.length; at += 10_000)
      connection.write(http2Frame(frameTypes.data, 0, 1, message.subarray(at, at + 10_000)));
    await expect.poll(() => counted(attacked, 'dragoman_body_bytes')).toBeGreaterThanOrEqual(60_000);
  }

  it('are limited in bytes per client', async () => {
    const { attacked, session } = await start({ limits: { bodyBytesPerClient: 1_000_000 } });
    await holdBytes(attacked);
    expect(await limitOf(session, 'SendMessage', send('x'.repeat(2_000_000)))).toBe('bodyBytes');
    expect(await limitOf(session, 'SendMessage', send('x'))).toBeUndefined();
  });

  it('are limited in bytes after decompression', async () => {
    const { attacked, session } = await start({ limits: { bodyBytesPerClient: 1_000_000 } });
    await holdBytes(attacked);
    const body = (letters: number) => frame(gzipSync(send('x'.repeat(letters)).subarray(5)), 1);
    const gzip = { 'grpc-encoding': 'gzip' };
    expect(await limitOf(session, 'SendMessage', body(5_000_000), gzip)).toBe('bodyBytes');
    expect(await limitOf(session, 'SendMessage', body(500_000), gzip)).toBeUndefined();
  });
});

it('shortens pages of tasks to pageBytes', async () => {
  const { session } = await start({ limits: { pageBytes: 100_000 } });
  for (let n = 0; n < 4; n++) await call(session, 'SendMessage', send('60000'));
  const list = async (pageToken: string) => {
    const request = encodeMessage(messages1_0.ListTasksRequest, { includeArtifacts: true, pageToken });
    const answer = await call(session, 'ListTasks', frame(request));
    return messagesOf(answer, messages1_0.ListTasksResponse)[0];
  };
  const ids = new Set<string>();
  let pages = 0;
  for (let pageToken = ''; pages === 0 || pageToken !== ''; pages++) {
    const page = await list(pageToken);
    for (const { id } of page.tasks) ids.add(id);
    pageToken = page.nextPageToken ?? '';
  }
  expect(ids.size).toBe(4);
  expect(pages).toBe(4);
});

describe('rates', () => {
  it('limit wrong passwords', async () => {
    const { session } = await start({ auth, limits: { failedAuthRate: { perSecond: 0.001, burst: 2 } } });
    const login = (password: string) => limitOf(session, 'SendMessage', send('x'), basic(password));
    expect(await login('correct')).toBeUndefined();
    for (const password of ['wrong', 'worse']) expect(await login(password)).toBeUndefined();
    expect(await login('correct')).toBe('failedAuthRate');
  });

  it('apply to an address before authentication, also to health checks', async () => {
    const { session } = await start({ auth, limits: { addressRate: { perSecond: 0.001, burst: 2 } } });
    for (let n = 0; n < 2; n++) expect(await limitOf(session, 'SendMessage', send('x'))).toBeUndefined();
    expect(await limitOf(session, 'SendMessage', send('x'), basic('correct'))).toBe('addressRate');
    expect(await limitOf(session, '/grpc.health.v1.Health/Check', frame(Buffer.alloc(0)))).toBe(
      'addressRate',
    );
  });

  it.each<[string, string, Uint8Array, { readonly [name: string]: string }]>([
    ['an unknown method', 'Unknown', send('x'), {}],
    ['a message that is too large', 'SendMessage', send('x'.repeat(2_000)), {}],
    ['no message', 'SendMessage', Buffer.alloc(0), {}],
    ['two messages', 'SendMessage', Buffer.concat([send('a'), send('b')]), {}],
    ['an unknown encoding', 'SendMessage', frame(Buffer.from('x'), 1), { 'grpc-encoding': 'snappy' }],
    ['damaged gzip', 'SendMessage', frame(Buffer.from('x'), 1), { 'grpc-encoding': 'gzip' }],
    ['bytes that are no message', 'SendMessage', frame(Buffer.from([0xff])), {}],
  ])('count calls with %s', async (_case, method, body, metadata) => {
    const limits = { rate: { perSecond: 0.001, burst: 1 } };
    const { session } = await start({ maxBodyBytes: 1_000, limits });
    expect(await limitOf(session, method, body, metadata)).not.toBe('rate');
    expect(await limitOf(session, method, body, metadata)).toBe('rate');
  });
});

it.each<[string, string, Uint8Array]>([
  ['message.messageId', 'SendMessage', sendWith({ messageId: 'x'.repeat(1_025) })],
  ['message.contextId', 'SendMessage', sendWith({ contextId: 'x'.repeat(1_025) })],
  ['message.referenceTaskIds[0]', 'SendMessage', sendWith({ referenceTaskIds: ['x'.repeat(1_025)] })],
  [
    'tenant',
    'GetTask',
    frame(encodeMessage(messages1_0.GetTaskRequest, { id: 't', tenant: 'x'.repeat(1_025) })),
  ],
  ['id', 'GetTask', frame(encodeMessage(messages1_0.GetTaskRequest, { id: 'x'.repeat(1_025) }))],
  [
    'pageToken',
    'ListTasks',
    frame(encodeMessage(messages1_0.ListTasksRequest, { pageToken: 'x'.repeat(20_000) })),
  ],
])('rejects a long %s', async (field, method, body) => {
  const { session } = await start({});
  expect(errorOf(await call(session, method, body))?.message).toContain(`${field} must have at most `);
});

function sendWith(members: object): Buffer {
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }], ...members };
  return frame(encodeMessage(messages1_0.SendMessageRequest, { message }));
}
