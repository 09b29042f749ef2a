import { describe, expect, it } from 'vitest';
import { bridge, bridgeAgents } from '../../../src/bridge/bridge.ts';
import { A2AError } from '../../../src/protocol/errors.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { bridgeToServedAgent, bridgeToUrl, closeAfterTest } from '../../support/bridge/bridge-fixtures.ts';
import { createDeferred } from '../../support/engine/conversation.ts';
import { ManualClock } from '../../support/clocks/manual-clock.ts';
import { startRawAgent } from '../../support/mesh/raw-agent.ts';
import { respondJson, startRawServer } from '../../support/http/raw-server.ts';

describe('what went wrong', () => {
  it('is an agent that cannot be reached', async () => {
    const raw = await startRawAgent({});
    const made = await bridgeToUrl(raw.url);
    await raw.close();
    expect(await made.invoke('remote/s', { prompt: 'x' })).toMatchObject({
      success: false,
      status: 'ERROR',
      followUpId: undefined,
      errorInfo: { errorMessage: expect.any(String), code: -32603 },
    });
  });

  it('is an error of the agent', async () => {
    const raw = await startRawAgent({
      stream: () => [{ error: { code: -32602, message: 'No such thing' } }],
    });
    closeAfterTest(() => raw.close());
    expect(await (await bridgeToUrl(raw.url)).invoke('remote/s', { prompt: 'x' })).toMatchObject({
      status: 'ERROR',
      errorInfo: { code: -32602 },
    });
  });

  it('is an action that is not there, a wrong parameter, or a missing one', async () => {
    const made = await bridgeToServedAgent(sampleAgent());
    expect(await made.invoke('remote/other', {})).toMatchObject({
      status: 'ERROR',
      message: 'There is no action remote/other',
    });
    expect(await made.invoke('other', {})).toMatchObject({ status: 'ERROR' });
    expect(await made.invoke('remote/echo', {})).toMatchObject({
      status: 'ERROR',
      message: 'prompt is required',
      errorInfo: { code: -32602 },
    });
    expect((await made.invoke('remote/echo', { prompt: 1 })).message).toBe('prompt must be of type string');
    expect((await made.invoke('remote/echo', { prompt: 'x', promt: 'y' })).message).toBe(
      'promt is not a parameter; there are prompt, files',
    );
  });

  it('is an agent that says nothing within the budget', async () => {
    const clock = new ManualClock();
    const begun = createDeferred();
    const raw = await startRawAgent({ open: () => begun.resolve() });
    closeAfterTest(() => raw.close());
    const made = await bridgeToUrl(raw.url, { clock });
    const response = made.invoke('remote/s', { prompt: 'x' }, { waitBudget: 777 });
    await begun.promise;
    clock.advance(777);
    expect(await response).toMatchObject({
      status: 'TIMEOUT',
      message: 'The agent did not answer within 777 ms',
      followUpId: undefined,
    });
  });

  it('is a card that cannot be had, unless that may wait', async () => {
    const gone = await startRawServer((_request, response) => respondJson(response, {}, 503));
    closeAfterTest(() => gone.close());
    await expect(bridgeToUrl(gone.url)).rejects.toBeInstanceOf(A2AError);
    const made = await bridgeToUrl(gone.url, { whenUnreachable: 'retry' });
    expect(made.actions().map(({ name }) => name)).toEqual(['provide_required_input']);
  });

  it('is a name that two agents have, or one that cannot be told from a skill', async () => {
    const agent = sampleAgent();
    await expect(bridge({ agentName: 'a/b', agent })).rejects.toThrow('without a slash');
    await expect(bridgeAgents([1, 2].map(() => ({ agentName: 'a', agent })))).rejects.toThrow(
      'a is there twice',
    );
  });

  it('is one call too many', async () => {
    const made = await bridgeToServedAgent(sampleAgent(), { maxCalls: 1 });
    const stop = new AbortController();
    const progress = createDeferred();
    const slow = made.invoke(
      'remote/echo',
      { prompt: 'slow' },
      { signal: stop.signal, onProgress: progress.resolve },
    );
    await progress.promise;
    expect(await made.invoke('remote/echo', { prompt: 'x' })).toMatchObject({
      status: 'ERROR',
      message: 'No more than 1 calls are made at the same time',
    });
    stop.abort();
    await slow;
    expect((await made.invoke('remote/echo', { prompt: 'x' })).success).toBe(true);
  });

  it('is a bridge that was closed', async () => {
    const agent = sampleAgent();
    const made = await bridge({ agentName: 'a', agent });
    const progress = createDeferred();
    const slow = made.invoke('a/echo', { prompt: 'slow' }, { onProgress: progress.resolve });
    await progress.promise;
    await made.close();
    expect(await slow).toMatchObject({ status: 'ERROR', message: 'The bridge was closed' });
    expect(await made.invoke('a/echo', { prompt: 'x' })).toMatchObject({ message: 'The bridge is closed' });
    // Its task goes on: only whoever asks for that ends it.
    const [task] = (await agent.listTasks({})).tasks;
    expect(task?.status.state).toBe('working');
    await agent.close();
  });
});
