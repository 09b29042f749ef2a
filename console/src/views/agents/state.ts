import { signal } from '@preact/signals';
import type { AgentCards } from '../../../../src/console/console-api.ts';
import { type DisplayError, toDisplayError } from '../../components/error-note.tsx';
import { addAgent, removeAgent } from '../../session/agents.ts';
import { requestJson } from '../../session/api-client.ts';
import { navigate } from '../../session/router.ts';
import { credentialsFromForm, type AgentFormData } from './credentials-form.ts';

/** Loading state of the cards of one agent. */
export interface CardsState {
  readonly agentId: string;
  readonly cards?: AgentCards;
  readonly error?: DisplayError;
}

/** The cards of the selected agent. */
export const cards = signal<CardsState | undefined>(undefined);

/** Shows cards as published. */
export const isRaw = signal(false);

/** Loads the cards of an agent; responses for a previously selected agent are ignored. */
export async function loadCards(agentId: string): Promise<void> {
  if (cards.peek()?.agentId !== agentId) cards.value = { agentId };
  let next: CardsState;
  try {
    next = { agentId, cards: await requestJson<AgentCards>(`agents/${encodeURIComponent(agentId)}/cards`) };
  } catch (error) {
    next = { agentId, error: toDisplayError(error) };
  }
  if (cards.peek()?.agentId === agentId) cards.value = next;
}

const emptyDraft: AgentFormData = { url: '', kind: 'none', fields: {} };

/** The form for a new agent; undefined while closed. */
export const draft = signal<AgentFormData | undefined>(undefined);
/** Error of adding the agent. */
export const draftError = signal<DisplayError | undefined>(undefined);
/** True while the agent is being added. */
export const isAdding = signal(false);

export function openDraft(url = ''): void {
  draftError.value = undefined;
  draft.value = { ...emptyDraft, url };
}

/** Closes the form and clears its secrets. */
export function closeDraft(): void {
  draft.value = undefined;
}

/** Adds the agent of the form and selects it. */
export async function submitDraft(): Promise<void> {
  const form = draft.peek();
  if (!form) return;
  isAdding.value = true;
  draftError.value = undefined;
  try {
    const credentials = credentialsFromForm(form);
    const entry = await addAgent({ url: form.url.trim(), ...(credentials ? { credentials } : {}) });
    closeDraft();
    cards.value = undefined;
    navigate('agents', { agent: entry.id });
  } catch (error) {
    draftError.value = toDisplayError(error);
  } finally {
    isAdding.value = false;
  }
}

/** Error of removing an agent. */
export const removeError = signal<DisplayError | undefined>(undefined);

/** Removes an agent and selects the first one. */
export async function removeSelectedAgent(id: string): Promise<void> {
  removeError.value = undefined;
  try {
    await removeAgent(id);
    navigate('agents');
  } catch (error) {
    removeError.value = toDisplayError(error);
  }
}
