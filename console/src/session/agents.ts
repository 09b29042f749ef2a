import { computed, effect, signal } from '@preact/signals';
import type { ConsoleInfo, AgentEntry, NewAgent } from '../../../src/console/console-api.ts';
import { accessState } from './access-state.ts';
import { agentLabel } from './agent-label.ts';
import { requestJson } from './api-client.ts';
import { currentRoute } from './router.ts';
import { token } from './token.ts';

/** What the server is; undefined until it has said so. */
export const consoleInfo = signal<ConsoleInfo | undefined>(undefined);

/** The agents that the console knows; undefined until the server has said so. */
export const agents = signal<readonly AgentEntry[] | undefined>(undefined);

/** The agent that all views speak of: the one in the address, or the first. */
export const selectedAgent = computed(() => {
  const id = currentRoute.value.details.get('agent');
  return agents.value?.find((each) => each.id === id) ?? agents.value?.[0];
});

/** What to call one of the agents where only its name is seen. */
export const labelForAgent = (entry: AgentEntry): string => agentLabel(entry, agents.value ?? []);

/** Asks for all agents again. */
export async function refreshAgents(): Promise<void> {
  agents.value = await requestJson<AgentEntry[]>('agents');
}

/** Adds an agent, or connects to one again. */
export async function addAgent(agent: NewAgent): Promise<AgentEntry> {
  const entry = await requestJson<AgentEntry>('agents', { method: 'POST', body: agent });
  await refreshAgents();
  return entry;
}

/** Forgets an agent. */
export async function removeAgent(id: string): Promise<void> {
  await requestJson(`agents/${encodeURIComponent(id)}`, { method: 'DELETE' });
  await refreshAgents();
}

/** Asks the server who it is and which agents it knows; without a token there is nothing to ask. */
export async function startSession(): Promise<void> {
  if (token === '') {
    accessState.value = 'denied';
    return;
  }
  try {
    consoleInfo.value = await requestJson<ConsoleInfo>('about');
    await refreshAgents();
  } catch {
    // `access` says what is wrong, above the page.
  }
}

/** Milliseconds between two questions whether the server is there again. */
const patience = 2_000;

// A server that was gone may have been started anew: it is asked who it is, until it answers.
effect(() => {
  if (accessState.value !== 'gone') return undefined;
  const timer = setInterval(() => void startSession(), patience);
  return () => clearInterval(timer);
});
