import { signal } from '@preact/signals';
import type { AgentCards } from '../../../../src/console/console-api.ts';
import { type DisplayError, toDisplayError } from '../../components/error-note.tsx';
import { addAgent, removeAgent } from '../../session/agents.ts';
import { requestJson } from '../../session/api-client.ts';
import { navigate } from '../../session/router.ts';
import { credentialsFromForm, type AgentFormData } from './credentials-form.ts';

/** What is known of the cards of one agent. */
export interface CardsState {
  readonly agentId: string;
  readonly cards?: AgentCards;
  readonly trouble?: DisplayError;
}

/** The cards of the agent that is looked at. */
export const cards = signal<CardsState | undefined>(undefined);

/** Whether cards are shown as they were published. */
export const isRaw = signal(false);

/** Fetches the cards of an agent; an answer that comes after another agent was chosen is not shown. */
export async function loadCards(agentId: string): Promise<void> {
  if (cards.peek()?.agentId !== agentId) cards.value = { agentId };
  let next: CardsState;
  try {
    next = { agentId, cards: await requestJson<AgentCards>(`agents/${encodeURIComponent(agentId)}/cards`) };
  } catch (error) {
    next = { agentId, trouble: toDisplayError(error) };
  }
  if (cards.peek()?.agentId === agentId) cards.value = next;
}

const emptyDraft: AgentFormData = { url: '', kind: 'none', fields: {} };

/** The form for a new agent; undefined while it is closed. */
export const draft = signal<AgentFormData | undefined>(undefined);
/** Why the agent in the form could not be added. */
export const draftError = signal<DisplayError | undefined>(undefined);
/** Whether the agent in the form is being added. */
export const isAdding = signal(false);

/** Opens the form. */
export function openDraft(url = ''): void {
  draftError.value = undefined;
  draft.value = { ...emptyDraft, url };
}

/** Forgets the form, and the secrets in it. */
export function closeDraft(): void {
  draft.value = undefined;
}

/** Adds the agent of the form, and goes to it. */
export async function submitDraft(): Promise<void> {
  const wish = draft.peek();
  if (!wish) return;
  isAdding.value = true;
  draftError.value = undefined;
  try {
    const credentials = credentialsFromForm(wish);
    const entry = await addAgent({ url: wish.url.trim(), ...(credentials ? { credentials } : {}) });
    closeDraft();
    cards.value = undefined;
    navigate('agents', { agent: entry.id });
  } catch (error) {
    draftError.value = toDisplayError(error);
  } finally {
    isAdding.value = false;
  }
}

/** Why an agent could not be removed. */
export const removeError = signal<DisplayError | undefined>(undefined);

/** Forgets an agent, and looks at the first again. */
export async function removeSelectedAgent(id: string): Promise<void> {
  removeError.value = undefined;
  try {
    await removeAgent(id);
    navigate('agents');
  } catch (error) {
    removeError.value = toDisplayError(error);
  }
}
