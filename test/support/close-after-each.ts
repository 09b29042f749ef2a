import { afterEach } from 'vitest';

/** What a test has opened. */
export interface Closable {
  close(): Promise<unknown>;
}

/** A list of what is open; after each test all of it is closed, the last one first. */
export function closeAfterEach(): Closable[] {
  const open: Closable[] = [];
  afterEach(async () => {
    for (const each of open.splice(0).toReversed()) await each.close();
  });
  return open;
}
