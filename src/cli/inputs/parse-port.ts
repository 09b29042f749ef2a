import { InvalidArgumentError } from 'commander';

/** Parses a port number; 0 stands for any free port. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('Use a number from 0 (any free port) to 65535.');
}
