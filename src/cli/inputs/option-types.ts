import { InvalidArgumentError, Option } from 'commander';

/** Gathers the values of an option that may be given several times. */
export function collectValues(value: string, before: readonly string[]): string[] {
  return [...before, value];
}

/** An option in seconds, which becomes milliseconds. */
export function secondsOption(flags: string, what: string, seconds: number): Option {
  return new Option(flags, what)
    .argParser((text: string) => {
      const number = Number(text);
      if (!/^\d+(?:\.\d+)?$/.test(text) || number <= 0 || number > 86_400)
        throw new InvalidArgumentError('It is a number of seconds, up to 86400.');
      return number * 1_000;
    })
    .default(seconds * 1_000, `${seconds}`);
}

/** How to print. */
export function outputOption(): Option {
  return new Option('-o <form>', 'how to print').choices(['text', 'json']).default('text');
}
