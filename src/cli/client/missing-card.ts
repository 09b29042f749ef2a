import type { SeveralAgentsError } from '../../client/discovery/find-in-catalog.ts';
import { programName } from '../terminal/program-name.ts';
import { quoteShellWord } from '../terminal/quote-shell-word.ts';
import type { CardReference } from './card-reference.ts';
import { ClientError } from './client-error.ts';

/** Names the agents of a catalog. @param commandPath - for example `dragoman task get` */
export function severalAgents(
  { message, agents: [first], catalogUrl }: SeveralAgentsError,
  commandPath: string,
): ClientError {
  const url = first?.cardUrl ?? `${catalogUrl}#${encodeURIComponent(first?.name ?? '')}`;
  return new ClientError(
    'A2ACLI_ERR_CARD_NOT_FOUND',
    message,
    `Name one of its agents: ${commandPath} -a ${quoteShellWord(url)} … To list all, run ${programName()} card list -a ${quoteShellWord(catalogUrl)}.`,
  );
}

/** Says why a reference leads to no card. @param otherUrl - URL of a 200 response in place of the card */
export function cardNotFound(reference: CardReference, otherUrl: string | undefined): ClientError {
  const location = 'url' in reference ? reference.url.href : reference.file;
  const message = `No agent card found at ${location}`;
  if (otherUrl === undefined)
    return new ClientError('A2ACLI_ERR_CARD_NOT_FOUND', message, 'Pass the URL of the agent or of its card.');
  const isOfHost = 'url' in reference && !otherUrl.startsWith(location.replace(/\/?$/, '/'));
  if (!isOfHost) return new ClientError('A2ACLI_ERR_CARD_INVALID', `Not an agent card: ${otherUrl}`);
  const hint = `The card at ${otherUrl} lists other URLs. To use its agent, pass -a ${new URL(otherUrl).origin}.`;
  return new ClientError('A2ACLI_ERR_CARD_NOT_FOUND', message, hint);
}

/** Says how to examine an invalid card. */
export function conformanceHint(reference: CardReference): string {
  const name = 'url' in reference ? reference.url.href : reference.file;
  return `For details, run dragoman conformance ${quoteShellWord(name)}.`;
}
