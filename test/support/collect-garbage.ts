import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Removes objects that only weak references point to. */
export async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // A weak reference keeps its object until the current turn of the event loop ends.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
}
