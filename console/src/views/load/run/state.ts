import { batch, computed, signal } from '@preact/signals';
import { isLoopbackHost } from '../../../../../src/primitives/loopback.ts';
import type { AgentEntry, LoadRunEvent, LoadRunInput } from '../../../../../src/console/console-api.ts';
import { type DisplayError, toDisplayError } from '../../../components/error-note.tsx';
import { agents, selectedAgent } from '../../../session/agents.ts';
import { requestJson } from '../../../session/api-client.ts';
import { startReconnectingStream } from '../../../session/reconnecting-stream.ts';
import { applyRunEvent, type DisplayedRun } from './run-progress.ts';

/** Inputs of the form as typed; durations in seconds. */
export interface RunDraft {
  readonly operation: 'send' | 'stream' | 'get';
  readonly loop: 'open' | 'closed';
  readonly rate: string;
  readonly clients: string;
  readonly duration: string;
  readonly warmUp: string;
  readonly text: string;
  /** Such as `1.0/JSONRPC`; empty for the first variant of the agent. */
  readonly variant: string;
}

/** The inputs of the form. */
export const draft = signal<RunDraft>({
  operation: 'send',
  loop: 'open',
  rate: '20',
  clients: '10',
  duration: '10',
  warmUp: '1',
  text: 'hello',
  variant: '',
});

/** The newest run of the server. */
export const displayedRun = signal<DisplayedRun | undefined>(undefined);

/** Why the last run could not be started or stopped. */
export const requestError = signal<DisplayError | undefined>(undefined);

/** Agents on this machine; load is not sent to others. */
export const localAgents = computed(() =>
  (agents.value ?? []).filter(({ url }) => isLoopbackHost(new URL(url).hostname)),
);

/** The agent in the page URL, or the first on this machine. */
export const targetAgent = computed(
  () => localAgents.value.find(({ id }) => id === selectedAgent.value?.id) ?? localAgents.value[0],
);

/** Subscribes to the run of the server, which continues without the page. @returns a function that unsubscribes */
export function watchRun(): () => void {
  return startReconnectingStream<LoadRunEvent>({
    path: () => 'load/run',
    take: (event) =>
      batch(() => {
        displayedRun.value = applyRunEvent(displayedRun.value, event);
      }),
  });
}

/** Starts a run with the inputs of the form. */
export async function startLoadRun(agent: AgentEntry): Promise<void> {
  const { operation, loop, rate, clients, duration, warmUp, text, variant } = draft.value;
  const chosen = agent.variants.find((each) => `${each.version}/${each.transport}` === variant);
  const body: LoadRunInput = {
    agentId: agent.id,
    operation,
    ...(loop === 'open' ? { rate: Number(rate) } : { connections: Number(clients) }),
    duration: Number(duration) * 1_000,
    warmUp: Number(warmUp) * 1_000,
    ...(text !== '' && { text }),
    ...(chosen && { variant: chosen }),
  };
  await request(() => requestJson('load/run', { method: 'POST', body }));
}

/** Ends the run early; its report follows as an event. */
export function stopLoadRun(): Promise<void> {
  return request(() => requestJson('load/run', { method: 'DELETE' }));
}

async function request(send: () => Promise<unknown>): Promise<void> {
  requestError.value = undefined;
  try {
    await send();
  } catch (error) {
    requestError.value = toDisplayError(error);
  }
}
