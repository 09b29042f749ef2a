import { computed, signal } from '@preact/signals';
import type { CatalogContent } from '../../../../src/console/console-api.ts';
import { type DisplayError, toDisplayError } from '../../components/error-note.tsx';
import { addAgent } from '../../session/agents.ts';
import { requestJson } from '../../session/api-client.ts';
import { currentRoute, navigate, replaceRoute } from '../../session/router.ts';
import type { CatalogFilter } from './catalog-search.ts';

/** URL of the catalog; empty for the agents of the console. */
export const source = computed(() => currentRoute.value.details.get('from') ?? '');

/** The search, which is part of the URL of the page. */
export const filter = computed<CatalogFilter>(() => {
  const { details } = currentRoute.value;
  const read = (name: string) => details.get(name) ?? '';
  return {
    text: read('text'),
    version: read('version'),
    transport: read('transport'),
    security: read('security'),
  };
});

/** Changes the search. */
export function updateFilter(changes: Partial<CatalogFilter>): void {
  const details = { from: source.peek(), ...filter.peek(), ...changes };
  const set = Object.entries(details).filter(([, value]) => value !== '');
  replaceRoute('catalog', Object.fromEntries(set));
}

/** Shows the catalog of a host, or the agents of the console. */
export function openSource(url: string): void {
  navigate('catalog', { from: url === '' ? undefined : url });
}

/** Loading state of one catalog. */
export interface CatalogState {
  readonly from: string;
  readonly content?: CatalogContent;
  readonly error?: DisplayError;
}

export const catalog = signal<CatalogState | undefined>(undefined);

/** Loads a catalog; the response for a previous one is ignored. */
export async function loadCatalog(from: string): Promise<void> {
  catalog.value = { from };
  let next: CatalogState;
  try {
    const query = from === '' ? '' : `?${new URLSearchParams({ url: from })}`;
    next = { from, content: await requestJson<CatalogContent>(`catalog${query}`) };
  } catch (error) {
    next = { from, error: toDisplayError(error) };
  }
  if (catalog.peek()?.from === from) catalog.value = next;
}

/** URL of the agent that is being added. */
export const addingUrl = signal<string | undefined>(undefined);
/** Error of adding an agent. */
export const addError = signal<DisplayError | undefined>(undefined);

/** Adds an agent of the catalog to the console and shows it. */
export async function addListedAgent(url: string): Promise<void> {
  addingUrl.value = url;
  addError.value = undefined;
  try {
    navigate('agents', { agent: (await addAgent({ url })).id });
  } catch (error) {
    addError.value = toDisplayError(error);
  } finally {
    addingUrl.value = undefined;
  }
}
