import { InvalidArgumentError } from 'commander';

/** Reads a port; 0 is any free one. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('A port is a number from 0 (any free one) to 65535.');
}
