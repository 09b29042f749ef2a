import { signal } from '@preact/signals';
import type { Cards } from '../../../../src/console/console-api.ts';
import { type Trouble, troubleOf } from '../../components/error-note.tsx';
import { addAgent, removeAgent } from '../../session/agents.ts';
import { call } from '../../session/api-client.ts';
import { go } from '../../session/router.ts';
import { credentialsOf, type Draft } from './credentials-form.ts';

/** What is known of the cards of one agent. */
export interface CardsState {
  readonly agentId: string;
  readonly cards?: Cards;
  readonly trouble?: Trouble;
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
    next = { agentId, cards: await call<Cards>(`agents/${encodeURIComponent(agentId)}/cards`) };
  } catch (error) {
    next = { agentId, trouble: troubleOf(error) };
  }
  if (cards.peek()?.agentId === agentId) cards.value = next;
}

const emptyDraft: Draft = { url: '', kind: 'none', fields: {} };

/** The form for a new agent; undefined while it is closed. */
export const draft = signal<Draft | undefined>(undefined);
/** Why the agent in the form could not be added. */
export const draftTrouble = signal<Trouble | undefined>(undefined);
/** Whether the agent in the form is being added. */
export const isAdding = signal(false);

/** Opens the form. */
export function openDraft(url = ''): void {
  draftTrouble.value = undefined;
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
  draftTrouble.value = undefined;
  try {
    const credentials = credentialsOf(wish);
    const entry = await addAgent({ url: wish.url.trim(), ...(credentials ? { credentials } : {}) });
    closeDraft();
    cards.value = undefined;
    go('agents', { agent: entry.id });
  } catch (error) {
    draftTrouble.value = troubleOf(error);
  } finally {
    isAdding.value = false;
  }
}

/** Why an agent could not be removed. */
export const removeTrouble = signal<Trouble | undefined>(undefined);

/** Forgets an agent, and looks at the first again. */
export async function forget(id: string): Promise<void> {
  removeTrouble.value = undefined;
  try {
    await removeAgent(id);
    go('agents');
  } catch (error) {
    removeTrouble.value = troubleOf(error);
  }
}
