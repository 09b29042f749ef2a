import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isGrpcUrl, parseGrpcAddress } from '../../client/discovery/grpc-address.ts';
import { asJsonObject, parseJsonOrUndefined } from '../../primitives/json.ts';
import { completeUrl } from '../../primitives/web/complete-url.ts';
import { ClientError } from './client-error.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { parseUrl } from '../../primitives/web/parse-url.ts';

/** A parsed agent card reference. */
export type CardReference = { url: URL } | { file: string; card: object };

/** Parses a reference: host, URL, `file://…` or path. Local hosts use http, all others https. */
export function parseCardReference(reference: string): CardReference {
  if (/^https?:\/\//i.test(reference)) return { url: parseReference(reference, reference) };
  if (/^file:/i.test(reference)) return readCardFile(parseFileUrl(reference), reference);
  if (isGrpcUrl(reference)) throw noCardOverGrpc(reference);
  if (reference.includes('://'))
    throw new UsageError(
      `Invalid agent card reference: ${reference}`,
      'Use a host, an http or https URL, or a file.',
    );
  const isPath = /^[./~]/.test(reference) || /^[^/]+\.json$/i.test(reference) || /^[a-z]:\\/i.test(reference);
  if (isPath || statSync(reference, { throwIfNoEntry: false })?.isFile())
    return readCardFile(reference, reference);
  return { url: parseReference(completeUrl(reference), reference) };
}

/** An address of gRPC works for `connect`, but commands show and check the card. */
function noCardOverGrpc(reference: string): UsageError {
  const url = parseGrpcAddress(reference)?.origin ?? 'http://localhost:4000';
  return new UsageError(
    `${reference} is an address of gRPC, which has no agent card`,
    `Pass the URL of the agent and the transport, as in -a ${url} --transport GRPC.`,
  );
}

function parseReference(text: string, reference: string): URL {
  const url = parseUrl(text);
  if (url && (url.username !== '' || url.password !== ''))
    throw new UsageError(
      'The URL of the agent contains credentials',
      'Remove them and pass credentials in A2ACLI_BEARER or A2ACLI_API_KEY.',
    );
  if (url) return url;
  throw new ClientError(
    'A2ACLI_ERR_CARD_NOT_FOUND',
    `Invalid agent card reference: ${reference}`,
    'Use a host such as agents.example.com, a URL, or a file.',
  );
}

function parseFileUrl(reference: string): string {
  try {
    return fileURLToPath(reference);
  } catch (cause) {
    throw new ClientError(
      'A2ACLI_ERR_CARD_NOT_FOUND',
      `Invalid file URL: ${reference}`,
      'Write it as file:///path.',
      cause,
    );
  }
}

function readCardFile(file: string, reference: string): CardReference {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    const isMissing = (cause as { code?: unknown }).code === 'ENOENT';
    throw new ClientError(
      'A2ACLI_ERR_CARD_NOT_FOUND',
      isMissing ? `File not found: ${reference}` : `Cannot read ${reference}`,
      'Pass the path of a file with an agent card, or an http or https URL.',
      isMissing ? undefined : cause,
    );
  }
  const card = asJsonObject(parseJsonOrUndefined(text));
  if (card) return { file, card };
  throw new ClientError(
    'A2ACLI_ERR_CARD_INVALID',
    `${reference} is not an agent card`,
    'Pass a file with a JSON object.',
  );
}
