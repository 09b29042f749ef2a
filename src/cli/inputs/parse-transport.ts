import { InvalidArgumentError } from 'commander';

const transportNames: { readonly [name: string]: string } = {
  jsonrpc: 'JSONRPC',
  'json-rpc': 'JSONRPC',
  rest: 'HTTP+JSON',
  'http+json': 'HTTP+JSON',
  grpc: 'GRPC',
};

/** Creates a parser for a repeatable transport flag; a value may also be a comma-separated list. */
export function transportParser(supported: readonly string[]) {
  return (text: string, previous: readonly string[]): string[] => {
    const names = text.split(',').map((name) => transportNames[name.trim().toLowerCase()] ?? '');
    if (names.every((name) => supported.includes(name))) return [...previous, ...names];
    throw new InvalidArgumentError(`Use ${supported.join(' or ')}.`);
  };
}
