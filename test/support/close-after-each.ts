import { afterEach } from 'vitest';

export interface Closable {
  close(): Promise<unknown>;
}

/** Returns a list; its entries are closed after each test, the last one first. */
export function closeAfterEach(): Closable[] {
  const open: Closable[] = [];
  afterEach(async () => {
    for (const each of open.splice(0).toReversed()) await each.close();
  });
  return open;
}
