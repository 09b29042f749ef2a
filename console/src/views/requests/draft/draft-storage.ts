import { Redactor } from '../../../../../src/primitives/redaction/redaction.ts';
import { dialectOfVariant } from '../../../../../src/dialects/http/operation-request.ts';
import type { EditedRequest, RequestDraft } from './request-draft.ts';
import { withoutSecrets } from './without-secrets.ts';

const key = 'dragoman-request-draft';

/** Storage of the tab: other tabs and consoles have their own. */
type DraftStore = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/**
 * Stores a request without its secrets.
 *
 * @param secretHeaders - headers with credentials according to the card.
 * @returns false if it is too large for the store
 */
export function saveRequest(
  { draft, model }: EditedRequest,
  secretHeaders: readonly string[],
  store: DraftStore = sessionStorage,
): boolean {
  try {
    const stored = { draft: withoutSecrets(draft, secretHeaders), model: new Redactor().redactDeep(model) };
    store.setItem(key, JSON.stringify(stored));
    return true;
  } catch {
    // An older draft would be restored in place of this one.
    store.removeItem(key);
    return false;
  }
}

/** Returns the stored request; undefined if there is none. */
export function restoreRequest(store: DraftStore = sessionStorage): EditedRequest | undefined {
  try {
    const stored = JSON.parse(store.getItem(key) ?? 'null') as EditedRequest | null;
    return stored && isDraft(stored.draft)
      ? { draft: stored.draft, model: stored.model, losses: [] }
      : undefined;
  } catch {
    return undefined;
  }
}

/** The store may have the draft of an older page. */
function isDraft({ headers, body, url, method, ...target }: RequestDraft): boolean {
  return (
    Array.isArray(headers) &&
    [body, url, method].every((each) => typeof each === 'string') &&
    dialectOfVariant(target) !== undefined
  );
}
