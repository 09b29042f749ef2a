import type { StoreUrl } from '../../store/url/parse-store-url.ts';
import { type FollowUpStore, memoryFollowUpStore } from './follow-up-store.ts';

/** Opens the store of follow-ups at a URL. Files and schemas may be those of a task store. */
export async function openFollowUpStore(url: StoreUrl): Promise<FollowUpStore> {
  switch (url.kind) {
    case 'memory':
      return memoryFollowUpStore();
    case 'sqlite':
      return (await import('./sqlite-follow-up-store.ts')).sqliteFollowUpStore({ file: url.file });
    case 'postgres':
      return (await import('./postgres-follow-up-store.ts')).postgresFollowUpStore(url);
  }
}
