import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configurationFolder } from './configuration.ts';
import { ClientError } from './client-error.ts';

/** A token that a person got for an agent. */
export interface StoredToken {
  accessToken: string;
  /** RFC 3339; absent where nobody said. */
  expiresAt?: string;
  refreshToken?: string;
  tokenUrl: string;
  clientId: string;
  scope?: string;
  /** Where the agent was when the token was got; it goes nowhere else. */
  origins: string[];
}

type Tokens = { [agent: string]: StoredToken };

/** Where tokens are kept. */
export function tokenFile(): string {
  return join(configurationFolder(), 'tokens.json');
}

/** The token for the agent of a card, if there is one. */
export function loadToken(agent: string): StoredToken | undefined {
  return read()[agent];
}

/** Keeps a token where only its owner can read it. */
export function saveToken(agent: string, token: StoredToken): void {
  const file = tokenFile();
  mkdirSync(configurationFolder(), { recursive: true, mode: 0o700 });
  // Written aside, so that nobody ever reads half of it, and nobody else reads any of it.
  const aside = `${file}.${process.pid}`;
  writeFileSync(aside, `${JSON.stringify({ ...read(), [agent]: token }, undefined, 2)}\n`, { mode: 0o600 });
  chmodSync(aside, 0o600);
  renameSync(aside, file);
}

function read(): Tokens {
  const file = tokenFile();
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats) return {};
  if (process.platform !== 'win32' && (stats.mode & 0o077) !== 0)
    throw new ClientError('A2ACLI_ERR_USAGE', `${file} can be read by others`, `Run: chmod 600 ${file}`);
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Tokens;
  } catch (cause) {
    throw new ClientError('A2ACLI_ERR_USAGE', `${file} cannot be read`, 'Remove it and log in again.', cause);
  }
}
