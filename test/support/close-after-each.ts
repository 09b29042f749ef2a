import { afterEach } from 'vitest';

/** What a test has opened. */
export interface Open {
  close(): Promise<unknown>;
}

/** A list of what is open; after each test all of it is closed, the last one first. */
export function closedAfterEach(): Open[] {
  const open: Open[] = [];
  afterEach(async () => {
    for (const each of open.splice(0).toReversed()) await each.close();
  });
  return open;
}
