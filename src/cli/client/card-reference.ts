import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ClientError } from './client-error.ts';

/** What an agent card reference stands for. */
export type CardReference = { url: URL } | { file: string; card: object };

/** Reads a reference: a host, a URL, `file://…` or a path. */
export function parseCardReference(reference: string): CardReference {
  if (/^https?:\/\//i.test(reference)) return { url: urlOf(reference, reference) };
  if (/^file:/i.test(reference)) return fromFile(pathOf(reference), reference);
  if (reference.includes('://'))
    throw new ClientError(
      'A2ACLI_ERR_USAGE',
      `${reference} is no agent card reference`,
      'Give a host, an http(s) URL, or a file.',
    );
  const isPath = /^[./~]/.test(reference) || /^[^/]+\.json$/i.test(reference) || /^[a-z]:\\/i.test(reference);
  if (isPath || statSync(reference, { throwIfNoEntry: false })?.isFile())
    return fromFile(reference, reference);
  const host = /^(localhost|127(\.\d+){3}|\[::1\]|0\.0\.0\.0)(?=[:/]|$)/i.test(reference) ? 'http' : 'https';
  return { url: urlOf(`${host}://${reference}`, reference) };
}

function urlOf(text: string, reference: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && (url.username !== '' || url.password !== ''))
    throw new ClientError(
      'A2ACLI_ERR_USAGE',
      'the address of the agent holds a secret',
      'Leave it out, and give credentials with A2ACLI_BEARER or A2ACLI_API_KEY.',
    );
  if (url) return url;
  throw new ClientError(
    'A2ACLI_ERR_CARD_NOT_FOUND',
    `${reference} is no address`,
    'Give a host such as agents.example.com, a URL, or a file.',
  );
}

function pathOf(reference: string): string {
  try {
    return fileURLToPath(reference);
  } catch (cause) {
    throw new ClientError(
      'A2ACLI_ERR_CARD_NOT_FOUND',
      `${reference} names no file`,
      'Write file:///path.',
      cause,
    );
  }
}

function fromFile(file: string, reference: string): CardReference {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new ClientError(
      'A2ACLI_ERR_CARD_NOT_FOUND',
      `the card ${reference} cannot be read`,
      'Give the path of a file with an agent card, or a URL that begins with http.',
      cause,
    );
  }
  try {
    const card: unknown = JSON.parse(text);
    if (typeof card === 'object' && card !== null && !Array.isArray(card)) return { file, card };
  } catch {
    // Told below.
  }
  throw new ClientError(
    'A2ACLI_ERR_CARD_INVALID',
    `${reference} holds no agent card`,
    'A card is a JSON object.',
  );
}
