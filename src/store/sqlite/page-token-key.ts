import { createPageTokenKey } from '../page-tokens.ts';
import type { Database } from './database.ts';

/** Returns the key of page tokens in a file and creates it in a file that has none. */
export function readPageTokenKey(database: Database): string {
  database.exec(
    'create table if not exists page_token_key (id integer primary key check (id = 1), key text)',
  );
  const select = database.prepare('select key from page_token_key');
  if (!select.get([])) {
    // Another process may insert its key first.
    database.prepare('insert or ignore into page_token_key values (1, ?)').run([createPageTokenKey()]);
  }
  return String(select.get([])?.['key']);
}
