import { signal } from '@preact/signals';
import type { Cards, GivenCredentials } from '../../../../src/console/api.ts';
import { type Trouble, troubleOf } from '../../parts/error-note.tsx';
import { addAgent, removeAgent } from '../../session/agents.ts';
import { call } from '../../session/call.ts';
import { go } from '../../session/place.ts';

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

/** The kinds of credentials, and `none`. */
export type CredentialsKind = GivenCredentials['kind'] | 'none';

/** What stands in the form for a new agent. */
export interface Draft {
  readonly url: string;
  readonly kind: CredentialsKind;
  /** The fields of the credentials, of all kinds. */
  readonly fields: Readonly<Record<string, string>>;
}

const emptyDraft: Draft = { url: '', kind: 'none', fields: {} };

/** The form for a new agent; undefined while it is closed. */
export const draft = signal<Draft | undefined>(undefined);
export const draftTrouble = signal<Trouble | undefined>(undefined);
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

/** The fields that each kind of credentials has; those with `isSecret` are not shown while they are typed. */
export const credentialFields: {
  readonly [kind in CredentialsKind]: readonly {
    readonly name: string;
    readonly label: string;
    readonly isSecret?: boolean;
    readonly isOptional?: boolean;
  }[];
} = {
  none: [],
  bearer: [{ name: 'token', label: 'Token', isSecret: true }],
  header: [
    { name: 'name', label: 'Name of the header' },
    { name: 'value', label: 'Value', isSecret: true },
  ],
  basic: [
    { name: 'user', label: 'User' },
    { name: 'password', label: 'Password', isSecret: true },
  ],
  'client-credentials': [
    { name: 'tokenUrl', label: 'Address that gives tokens' },
    { name: 'clientId', label: 'Client id' },
    { name: 'clientSecret', label: 'Client secret', isSecret: true },
    { name: 'scope', label: 'Scope', isOptional: true },
  ],
};

/** The credentials that a form describes; undefined for none. */
export function credentialsOf({ kind, fields }: Draft): GivenCredentials | undefined {
  if (kind === 'none') return undefined;
  const given: Record<string, string> = { kind };
  for (const { name, isOptional } of credentialFields[kind]) {
    const value = fields[name] ?? '';
    if (value !== '' || !isOptional) given[name] = value;
  }
  return given as unknown as GivenCredentials;
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
