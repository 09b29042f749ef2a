import { describe, expect, it } from 'vitest';
import { stubAgent } from '../../../test/support/agent-stub.ts';
import { defineAgent } from '../../engine/index.ts';
import type { Agent, CallContext } from '../../protocol/agent.ts';
import type { A2AError } from '../../protocol/errors.ts';
import type { Message } from '../../protocol/message.ts';
import { bytesOf, type Part } from '../../protocol/part.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { memoryArtifactStore } from '../stores/memory.ts';
import type { ArtifactKey } from '../artifact-store.ts';
import { withArtifacts, type WithArtifactsOptions } from '../with-artifacts.ts';

const call: CallContext = { owner: 'alice' };
const key: ArtifactKey = { app: 'ns/', user: 'alice', session: 's-1', filename: 'input.txt' };
const uri = 'artifact://helper/alice/s-1/input.txt?version=0';

/** Wraps an agent that records the requests it receives. */
async function wrapAgent(options: Partial<WithArtifactsOptions> = {}) {
  const store = memoryArtifactStore();
  await store.save(key, Buffer.from('first'), 'text/plain');
  await store.save(key, Buffer.from('second'), 'text/plain');
  const received: SendRequest[] = [];
  const response: Message = { messageId: 'a-1', role: 'agent', parts: [{ text: 'ok' }] };
  const inner: Agent = stubAgent(defineAgent({ name: 'helper', description: '', process: () => 'ok' }), {
    async send(request) {
      received.push(request as SendRequest);
      return response;
    },
  });
  const agent = withArtifacts(inner, { store, app: 'helper', namespace: 'ns/', ...options });
  return { agent, store, received };
}

const message = (parts: Part[], more: Partial<Message> = {}): SendRequest => ({
  message: { messageId: 'm-1', role: 'user', contextId: 's-1', parts, ...more },
});

const textIn = (part: Part | undefined): string =>
  part && 'raw' in part ? Buffer.from(bytesOf(part)).toString() : 'no bytes';

async function catchError(result: Promise<unknown>): Promise<A2AError> {
  const error = await result.then(
    () => undefined,
    (thrown: unknown) => thrown as A2AError,
  );
  if (!error) throw new Error('not rejected');
  return error;
}

describe('withArtifacts links in requests', () => {
  it('replaces links in requests by bytes with filename and media type', async () => {
    const { agent, received } = await wrapAgent();
    await agent.send(message([{ text: 'look' }, { url: uri }]), call);
    const [text, file] = received[0]?.message.parts ?? [];
    expect(text).toEqual({ text: 'look' });
    expect(file).toEqual({
      raw: Buffer.from('first').toString('base64'),
      filename: 'input.txt',
      mediaType: 'text/plain',
    });
  });

  it('keeps the filename and media type of the client', async () => {
    const { agent, received } = await wrapAgent();
    const metadata = { a: 1 };
    await agent.send(
      message([{ url: uri, filename: 'mine.md', mediaType: 'text/markdown', metadata }]),
      call,
    );
    expect(received[0]?.message.parts[0]).toMatchObject({
      filename: 'mine.md',
      mediaType: 'text/markdown',
      metadata,
    });
  });

  it('resolves links to the newest version and ignores the application in a shared scope', async () => {
    const { agent, received } = await wrapAgent();
    await agent.send(message([{ url: 'artifact://another/alice/s-1/input.txt' }]), call);
    expect(textIn(received[0]?.message.parts[0])).toBe('second');
  });

  it('resolves links by application with scope app', async () => {
    const { agent, store, received } = await wrapAgent({ scope: 'app' });
    await store.save({ ...key, app: 'other' }, Buffer.from('of another'), 'text/plain');
    await agent.send(message([{ url: 'artifact://other/alice/s-1/input.txt' }]), call);
    expect(textIn(received[0]?.message.parts[0])).toBe('of another');
    await catchError(agent.send(message([{ url: uri }]), call));
  });

  it('leaves web URLs unchanged', async () => {
    const { agent, received } = await wrapAgent();
    const request = message([{ url: 'https://files.example/x' }, { text: 'no artifact here' }]);
    await agent.send(request, call);
    expect(received[0]).toBe(request);
  });

  it.each([
    ['a missing version', 'artifact://helper/alice/s-1/input.txt?version=7'],
    ['a missing file', 'artifact://helper/alice/s-1/none.txt'],
    ['a file of another user', 'artifact://helper/bob/s-1/input.txt'],
    ['a path traversal', 'artifact://helper/alice/s-1/..%2F..%2Fsecret'],
    ['an incomplete URI', 'artifact://helper/input.txt'],
    ['an invalid version', 'artifact://helper/alice/s-1/input.txt?version=x'],
  ])('rejects %s with INVALID_PARAMS', async (_what, url) => {
    const { agent, received, store } = await wrapAgent();
    await store.save({ ...key, user: 'bob' }, Buffer.from('secret'), 'text/plain');
    const error = await catchError(agent.send(message([{ text: 'x' }, { url }]), call));
    expect(error.reason).toBe('INVALID_PARAMS');
    expect(error.message).toContain(url);
    expect(error.violations[0]?.field).toBe('message.parts[1].url');
    expect(received).toEqual([]);
  });

  it('returns the same error for missing files and files of another user', async () => {
    const { agent, store } = await wrapAgent();
    const send = () => catchError(agent.send(message([{ url: 'artifact://helper/bob/s/x' }]), call));
    const before = await send();
    await store.save(
      { app: 'ns/', user: 'bob', session: 's', filename: 'x' },
      Buffer.from('x'),
      'text/plain',
    );
    expect((await send()).message).toBe(before.message);
  });

  it('resolves links to files of another user if canRead allows it', async () => {
    const calls: unknown[] = [];
    const { agent, store, received } = await wrapAgent({
      canRead(wanted, by) {
        calls.push([wanted, by]);
        return true;
      },
    });
    await store.save({ ...key, user: 'bob' }, Buffer.from('shared'), 'text/plain');
    await agent.send(message([{ url: 'artifact://helper/bob/s-1/input.txt' }]), call);
    expect(textIn(received[0]?.message.parts[0])).toBe('shared');
    expect(calls).toEqual([[{ ...key, user: 'bob' }, call]]);
  });

  it('limits the size and the number of linked files', async () => {
    const { agent } = await wrapAgent({ maxInlineBytes: 10, limits: { maxFiles: 2 } });
    const link = { url: uri };
    expect(
      (await catchError(agent.send(message([link, { url: `${uri.slice(0, -1)}1` }]), call))).reason,
    ).toBe('PAYLOAD_TOO_LARGE');
    const { agent: other } = await wrapAgent({ limits: { maxFiles: 2 } });
    const error = await catchError(other.send(message([link, link, link]), call));
    expect(error.message).toContain('message.parts[2].url must not exceed the limit of 2 files');
  });
});

describe('withArtifacts mentions in text', () => {
  it('attaches mentioned files and leaves the text unchanged', async () => {
    const { agent, received } = await wrapAgent();
    const text =
      'Please process artifact://helper/alice/s-1/input.txt?version=0, and (artifact://helper/alice/s-1/input.txt).';
    await agent.send(message([{ text }]), call);
    const parts = received[0]?.message.parts ?? [];
    expect(parts[0]).toEqual({ text });
    expect(parts.slice(1).map(textIn)).toEqual(['first', 'second']);
    expect(parts[1]).toMatchObject({ filename: 'input.txt', mediaType: 'text/plain' });
  });

  it('attaches a mentioned file once, and not if it is also linked', async () => {
    const { agent, received } = await wrapAgent();
    await agent.send(message([{ text: `${uri} ${uri}` }, { url: uri }]), call);
    expect(received[0]?.message.parts).toHaveLength(2);
  });

  it('rejects a mention of a missing file', async () => {
    const { agent } = await wrapAgent();
    const error = await catchError(
      agent.send(message([{ text: 'see artifact://helper/alice/s-1/none.txt!' }]), call),
    );
    expect(error.message).toContain(
      'message.parts[0].text must name an existing file, not artifact://helper/alice/s-1/none.txt',
    );
  });

  it('ignores malformed mentions, and all with resolveMentions: false', async () => {
    const { agent, received } = await wrapAgent();
    const vague = message([{ text: 'Please process artifact://.../input.txt' }]);
    await agent.send(vague, call);
    expect(received[0]).toBe(vague);
    const { agent: other, received: others } = await wrapAgent({ resolveMentions: false });
    const exact = message([{ text: uri }]);
    await other.send(exact, call);
    expect(others[0]).toBe(exact);
  });
});

describe('withArtifacts invoked_with_artifacts', () => {
  it('attaches the files of the message metadata', async () => {
    const { agent, received } = await wrapAgent();
    const invoked_with_artifacts = [{ filename: 'input.txt', version: 0 }, { filename: 'input.txt' }];
    await agent.send(message([{ text: 'go' }], { metadata: { invoked_with_artifacts } }), call);
    expect(received[0]?.message.parts.slice(1).map(textIn)).toEqual(['first', 'second']);
  });

  it('accepts the metadata of the request', async () => {
    const { agent, received } = await wrapAgent();
    const request = message([{ text: 'go' }]);
    await agent.send(
      { ...request, metadata: { invoked_with_artifacts: [{ filename: 'input.txt', version: 1 }] } },
      call,
    );
    expect(received[0]?.message.parts.slice(1).map(textIn)).toEqual(['second']);
  });

  it.each([
    ['a list', 'input.txt', 'message.metadata.invoked_with_artifacts must be an array'],
    ['a name', [{ version: 1 }], 'message.metadata.invoked_with_artifacts[0] must have a filename'],
    [
      'a version',
      [{ filename: 'x', version: -1 }],
      'message.metadata.invoked_with_artifacts[0].version must be',
    ],
    ['a file', [{ filename: 'none.txt' }], 'must name an existing file, not none.txt'],
  ])('requires %s', async (_what, invoked_with_artifacts, text) => {
    const { agent } = await wrapAgent();
    const error = await catchError(
      agent.send(message([{ text: 'go' }], { metadata: { invoked_with_artifacts } }), call),
    );
    expect(error.reason).toBe('INVALID_PARAMS');
    expect(error.message).toContain(text);
  });

  it('requires a contextId unless the file is shared by all sessions', async () => {
    const { agent, store, received } = await wrapAgent();
    const go = (filename: string) =>
      agent.send(
        message([{ text: 'go' }], {
          contextId: undefined,
          metadata: { invoked_with_artifacts: [{ filename }] },
        }),
        call,
      );
    expect((await catchError(go('input.txt'))).message).toContain('without a contextId in the message');
    await store.save({ ...key, filename: 'user:profile.json' }, Buffer.from('{}'), 'application/json');
    await go('user:profile.json');
    expect(received[0]?.message.parts[1]).toMatchObject({
      filename: 'profile.json',
      mediaType: 'application/json',
    });
  });
});

it('restores the links of the client in the task history', async () => {
  const { store } = await wrapAgent();
  const inner = defineAgent({ name: 'helper', description: '', process: () => 'done' });
  const agent = withArtifacts(inner, { store, app: 'helper', namespace: 'ns/' });
  const response = await agent.send(message([{ text: `see ${uri}` }, { url: `${uri.slice(0, -1)}1` }]), call);
  if (!('status' in response)) throw new Error('no task');
  const task = await agent.getTask({ id: response.id }, call);
  for (const { history, metadata } of [response, task]) {
    const userMessage = history?.find(({ role }) => role === 'user');
    expect(userMessage?.parts.slice(1)).toEqual([
      { url: `${uri.slice(0, -1)}1` },
      { url: uri, filename: 'input.txt' },
    ]);
    expect(metadata?.produced_artifacts).toBeUndefined();
  }
  expect(await store.versions(key)).toEqual([0, 1]);
  await inner.close?.();
});
