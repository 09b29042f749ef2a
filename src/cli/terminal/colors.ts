import picocolors from 'picocolors';

/** Where text goes. */
interface Output {
  /** True on a terminal; Node leaves it out elsewhere. */
  isTTY?: boolean;
}

/**
 * The colours for what is written there: for a terminal, unless the environment says otherwise. A build
 * machine is none, although the library would take it for one.
 */
export function createColors(output: Output): ReturnType<typeof picocolors.createColors> {
  return picocolors.createColors(isColoured(process.env, output.isTTY));
}

function isColoured(env: NodeJS.ProcessEnv, isTerminal: boolean | undefined): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0';
  return isTerminal === true && env.TERM !== 'dumb';
}
