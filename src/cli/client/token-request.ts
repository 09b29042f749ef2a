import { renewToken } from '../../client/oauth/oauth-token.ts';
import { type StoredToken, loadToken, saveToken } from './token-store.ts';

/** Returns the stored token of an agent, renewed if it expires soon. */
export async function refreshStoredToken(agent: string): Promise<StoredToken | undefined> {
  const token = loadToken(agent);
  const renewed = token && (await renewToken(token));
  if (renewed && renewed !== token) saveToken(agent, renewed);
  return renewed;
}
