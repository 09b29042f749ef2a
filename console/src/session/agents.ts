import { computed, effect, signal } from '@preact/signals';
import type { ConsoleInfo, AgentEntry, NewAgent } from '../../../src/console/console-api.ts';
import { newestResult } from '../../../src/primitives/newest-result.ts';
import { accessState } from './access-state.ts';
import { agentLabel } from './agent-label.ts';
import { requestJson } from './api-client.ts';
import { currentRoute } from './router.ts';
import { token } from './token.ts';

/** Server information; undefined until loaded. */
export const consoleInfo = signal<ConsoleInfo | undefined>(undefined);

/** Registered agents; undefined until loaded. */
export const agents = signal<readonly AgentEntry[] | undefined>(undefined);

/** The selected agent: the one in the page URL, or the first. */
export const selectedAgent = computed(() => {
  const id = currentRoute.value.details.get('agent');
  return agents.value?.find((each) => each.id === id) ?? agents.value?.[0];
});

/** The label of a registered agent. */
export const labelForAgent = (entry: AgentEntry): string => agentLabel(entry, agents.value ?? []);

const requestAgents = newestResult(() => requestJson<AgentEntry[]>('agents'));

/** Reloads all agents. */
export async function refreshAgents(): Promise<void> {
  agents.value = await requestAgents();
}

/** Adds an agent, or reconnects to one. */
export async function addAgent(agent: NewAgent): Promise<AgentEntry> {
  const entry = await requestJson<AgentEntry>('agents', { method: 'POST', body: agent });
  await refreshAgents();
  return entry;
}

/** Removes an agent. */
export async function removeAgent(id: string): Promise<void> {
  await requestJson(`agents/${encodeURIComponent(id)}`, { method: 'DELETE' });
  await refreshAgents();
}

/** Loads server information and agents; requires a token. */
export async function startSession(): Promise<void> {
  if (token === '') {
    accessState.value = 'denied';
    return;
  }
  try {
    consoleInfo.value = await requestJson<ConsoleInfo>('info');
    await refreshAgents();
  } catch {
    // `access` displays the error above the page.
  }
}

/** Milliseconds between two reconnect attempts. */
const retryDelay = 2_000;

// The server may have been restarted: reload until it responds.
effect(() => {
  if (accessState.value !== 'gone') return undefined;
  const timer = setInterval(() => void startSession(), retryDelay);
  return () => clearInterval(timer);
});
