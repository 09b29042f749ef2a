import { InvalidArgumentError } from 'commander';

/** Creates a parser for whole numbers within a range. */
export function countParser(max: number, min = 1): (text: string) => number {
  return (text) => {
    const count = Number(text);
    if (/^\d+$/.test(text) && count >= min && count <= max) return count;
    throw new InvalidArgumentError(`Use a whole number from ${min} to ${max}.`);
  };
}
