import { chmodSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFolder } from '../../primitives/node/create-folder.ts';
import { configurationFolder } from './configuration.ts';
import type { OAuthToken } from '../../client/oauth/oauth-token.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** A token of `auth login` for one agent. */
export interface StoredToken extends OAuthToken {
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

/** Returns all stored tokens by agent. */
export function loadTokens(): { readonly [agent: string]: StoredToken } {
  return readTokens();
}

/** Stores a token in a file with mode 0600. */
export function saveToken(agent: string, token: StoredToken): void {
  writeTokens({ ...readTokens(), [agent]: token });
}

/** Deletes the token of an agent. @returns false if there was none */
export function deleteToken(agent: string): boolean {
  const { [agent]: token, ...others } = readTokens();
  if (token) writeTokens(others);
  return token !== undefined;
}

function writeTokens(tokens: Tokens): void {
  const file = tokenFile();
  createFolder(configurationFolder(), 0o700);
  // Replaced atomically, so that other processes never read a partial file.
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify(tokens, undefined, 2)}\n`, { mode: 0o600 });
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
