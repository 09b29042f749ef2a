import picocolors from 'picocolors';

/** Stream that text is written to. */
interface Output {
  /** Undefined unless the stream is a terminal. */
  isTTY?: boolean;
}

/** Color functions of an output. */
export type Colors = ReturnType<typeof picocolors.createColors>;

/** Creates the color functions of an output. They do nothing unless it is a terminal or FORCE_COLOR is set. */
export function createColors(output: Output): Colors {
  return picocolors.createColors(usesColor(process.env, output.isTTY));
}

// Not picocolors' own detection, which also enables colors on CI.
function usesColor(env: NodeJS.ProcessEnv, isTerminal: boolean | undefined): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0';
  return isTerminal === true && env.TERM !== 'dumb';
}
