import { chmodSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFolder } from '../../primitives/node/create-folder.ts';
import { configurationFolder } from './configuration.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** A token of `auth login` for one agent. */
export interface StoredToken {
  accessToken: string;
  /** RFC 3339; undefined if the server did not return a lifetime. */
  expiresAt?: string;
  refreshToken?: string;
  tokenUrl: string;
  clientId: string;
  scope?: string;
  /** Origins of the agent at login. The token is sent to no other origin. */
  origins: string[];
}

type Tokens = { [agent: string]: StoredToken };

/** Returns the path of the token file. */
export function tokenFile(): string {
  return join(configurationFolder(), 'tokens.json');
}

/** Returns the stored token of an agent. */
export function loadToken(agent: string): StoredToken | undefined {
  return readTokens()[agent];
}

/** Stores a token in a file with mode 0600. */
export function saveToken(agent: string, token: StoredToken): void {
  const file = tokenFile();
  createFolder(configurationFolder(), 0o700);
  // Replaced atomically, so that other processes never read a partial file.
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify({ ...readTokens(), [agent]: token }, undefined, 2)}\n`, {
    mode: 0o600,
  });
  chmodSync(temporary, 0o600);
  renameSync(temporary, file);
}

function readTokens(): Tokens {
  const file = tokenFile();
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats) return {};
  if (process.platform !== 'win32' && (stats.mode & 0o077) !== 0)
    throw new UsageError(`${file} is readable by other users`, `Run chmod 600 ${file}.`);
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Tokens;
  } catch (cause) {
    throw new UsageError(`Cannot read ${file}`, 'Delete it and log in again.', { cause });
  }
}
