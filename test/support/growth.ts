/** Repetitions of a measurement; the smallest counts, because other work of the process only adds to it. */
const repetitions = 3;

/** CPU time, in milliseconds, below which a measurement is noise. */
const noise = 10;

/** Sizes of two inputs. */
interface Sizes {
  readonly small: number;
  readonly large: number;
}

/**
 * Returns how many times more CPU time work takes for a large input than for a small one. Other processes do not change
 * it, unlike elapsed time. For an input of four times the size, linear work returns about 4 and quadratic work about 16.
 */
export async function measureGrowth(work: (size: number) => unknown, sizes: Sizes): Promise<number> {
  const small = await measure(() => work(sizes.small));
  const large = await measure(() => work(sizes.large));
  return large / Math.max(small, noise);
}

async function measure(work: () => unknown): Promise<number> {
  let least = Infinity;
  for (let n = 0; n < repetitions; n++) {
    const start = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(start);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}
