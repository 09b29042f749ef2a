import { LruMap } from '../../../primitives/lru-map.ts';
import type { QuotaPeriodCounter, QuotaStore } from './quota-store.ts';

/** Counts requests in memory. A restart forgets them. */
export function memoryQuotas(max = 100_000): QuotaStore {
  const counters = new LruMap<string, { start: number; used: number }>({ maxEntries: max });
  const current = ({ key, start }: QuotaPeriodCounter) => {
    const known = counters.get(key);
    return known && known.start >= start ? known : undefined;
  };
  return {
    take(counter, limit) {
      const known = current(counter);
      if (!known) {
        counters.set(counter.key, { start: counter.start, used: 1 });
        return 1;
      }
      return known.used < limit ? ++known.used : undefined;
    },
    giveBack(counter) {
      const known = current(counter);
      if (known && known.used > 0) known.used--;
    },
  };
}
