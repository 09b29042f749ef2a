import { describe, expect, it } from 'vitest';
import { bridge, bridgeAgents } from '../../../src/bridge/bridge.ts';
import { A2AError } from '../../../src/protocol/errors.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { bridgeToServedAgent, bridgeToUrl, closeAfterTest } from '../../support/bridge/bridge-fixtures.ts';
import { createDeferred } from '../../support/engine/conversation.ts';
import { ManualClock } from '../../support/clocks/manual-clock.ts';
import { startRawAgent } from '../../support/mesh/raw-agent.ts';
import { respondJson, startRawServer } from '../../support/http/raw-server.ts';

describe('bridge errors', () => {
  it('returns ERROR when the agent is unreachable', async () => {
    const raw = await startRawAgent({});
    const actions = await bridgeToUrl(raw.url);
    await raw.close();
    expect(await actions.invoke('remote/s', { prompt: 'x' })).toMatchObject({
      success: false,
      status: 'ERROR',
      message: `Failed to communicate with A2A agent: Connection refused by ${raw.url}`,
      followUpId: undefined,
      errorInfo: {
        errorMessage: `Failed to communicate with A2A agent: Connection refused by ${raw.url}`,
        code: -32603,
      },
    });
  });

  it('returns the error code of the agent', async () => {
    const raw = await startRawAgent({
      stream: () => [{ error: { code: -32602, message: 'No such thing' } }],
    });
    closeAfterTest(() => raw.close());
    expect(await (await bridgeToUrl(raw.url)).invoke('remote/s', { prompt: 'x' })).toMatchObject({
      status: 'ERROR',
      message: 'No such thing',
      errorInfo: { code: -32602 },
    });
  });

  it('returns ERROR for unknown actions and invalid or missing parameters', async () => {
    const actions = await bridgeToServedAgent(sampleAgent());
    expect(await actions.invoke('remote/other', {})).toMatchObject({
      status: 'ERROR',
      message: 'Action not found: remote/other',
    });
    expect(await actions.invoke('other', {})).toMatchObject({ status: 'ERROR' });
    expect(await actions.invoke('remote/echo', {})).toMatchObject({
      status: 'ERROR',
      message: 'prompt is required',
      errorInfo: { code: -32602 },
    });
    expect((await actions.invoke('remote/echo', { prompt: 1 })).message).toBe(
      'prompt must be of type string',
    );
    expect((await actions.invoke('remote/echo', { prompt: 'x', promt: 'y' })).message).toBe(
      'promt must be one of the parameters prompt, files',
    );
  });

  it('returns TIMEOUT when the agent sends nothing within the wait budget', async () => {
    const clock = new ManualClock();
    const started = createDeferred();
    const raw = await startRawAgent({ open: () => started.resolve() });
    closeAfterTest(() => raw.close());
    const actions = await bridgeToUrl(raw.url, { clock });
    const response = actions.invoke('remote/s', { prompt: 'x' }, { waitBudget: 777 });
    await started.promise;
    clock.advance(777);
    expect(await response).toMatchObject({
      status: 'TIMEOUT',
      message: 'Failed to communicate with A2A agent: No response from the agent within 777 ms',
      followUpId: undefined,
    });
  });

  it('rejects when the card is unavailable, unless whenUnreachable is retry', async () => {
    const gone = await startRawServer((_request, response) => respondJson(response, {}, 503));
    closeAfterTest(() => gone.close());
    await expect(bridgeToUrl(gone.url)).rejects.toBeInstanceOf(A2AError);
    const actions = await bridgeToUrl(gone.url, { whenUnreachable: 'retry' });
    expect(actions.actions().map(({ name }) => name)).toEqual(['provide_required_input']);
  });

  it('rejects duplicate agent names and names with a slash', async () => {
    const agent = sampleAgent();
    await expect(bridge({ agentName: 'a/b', agent })).rejects.toThrow('without a slash');
    await expect(bridgeAgents([1, 2].map(() => ({ agentName: 'a', agent })))).rejects.toThrow(
      'agentName must be unique: a',
    );
  });

  it('rejects calls beyond maxCalls', async () => {
    const actions = await bridgeToServedAgent(sampleAgent(), { maxCalls: 1 });
    const stop = new AbortController();
    const progress = createDeferred();
    const slow = actions.invoke(
      'remote/echo',
      { prompt: 'slow' },
      { signal: stop.signal, onProgress: progress.resolve },
    );
    await progress.promise;
    expect(await actions.invoke('remote/echo', { prompt: 'x' })).toMatchObject({
      status: 'ERROR',
      message: 'Too many concurrent calls; the limit is 1',
    });
    stop.abort();
    await slow;
    expect((await actions.invoke('remote/echo', { prompt: 'x' })).success).toBe(true);
  });

  it('ends pending and new calls with ERROR after close', async () => {
    const agent = sampleAgent();
    const actions = await bridge({ agentName: 'a', agent });
    const progress = createDeferred();
    const slow = actions.invoke('a/echo', { prompt: 'slow' }, { onProgress: progress.resolve });
    await progress.promise;
    await actions.close();
    expect(await slow).toMatchObject({ status: 'ERROR', message: 'The bridge was closed' });
    expect(await actions.invoke('a/echo', { prompt: 'x' })).toMatchObject({
      message: 'The bridge is closed',
    });
    // The task continues: only an explicit cancellation ends it.
    const [task] = (await agent.listTasks({})).tasks;
    expect(task?.status.state).toBe('working');
    await agent.close();
  });
});
