import type { Precondition } from './check.ts';
import { InconclusiveError, NotApplicableError } from './check-errors.ts';
import { isJsonObject, type JsonObject } from '../primitives/json.ts';
import { asList, asText, listOf, objectOf } from './drivers/normalized-views.ts';
import type { ProbeContext } from './probe-context.ts';
import type { RunChecksOptions } from './run-checks.ts';

/** Returns the reason why a rule with these preconditions cannot be tested, or undefined if it can. */
export function findUnmetPrecondition(
  preconditions: readonly Precondition[],
  { card, hasCard, driver }: Pick<ProbeContext, 'card' | 'hasCard' | 'driver'>,
  options: RunChecksOptions,
): NotApplicableError | InconclusiveError | undefined {
  if (!hasCard && preconditions.length > 0)
    return new InconclusiveError('Without a readable card it is unknown whether this rule applies.');
  const capabilities = objectOf(card.capabilities);
  const hasExtendedCard =
    capabilities.extendedAgentCard === true || card.supportsAuthenticatedExtendedCard === true;
  const isMet: Readonly<Record<Precondition, boolean>> = {
    streaming: capabilities.streaming === true,
    'no-streaming': capabilities.streaming !== true,
    push: capabilities.pushNotifications === true,
    'no-push': capabilities.pushNotifications !== true,
    'extended-card': hasExtendedCard,
    'no-extended-card': !hasExtendedCard,
    security: requiresCredentials(card),
    credentials: Object.keys(options.headers ?? {}).length > 0,
    'other-user': options.otherUserHeaders !== undefined,
    'restricted-user': options.restrictedUserHeaders !== undefined,
    signatures: listOf(card.signatures).length > 0,
    extensions: listOf(capabilities.extensions).length > 0,
    tenant: listOf(card.supportedInterfaces).some((each) => isJsonObject(each) && asText(each.tenant)),
  };
  const unmet = preconditions.find((each) => !isMet[each]);
  if (unmet === undefined) return undefined;
  const subject = `The ${driver.version} card`;
  if (!isMet.security && /^credentials$|-user$/.test(unmet))
    return new NotApplicableError(`${subject} requires no credentials.`);
  switch (unmet) {
    case 'credentials':
      return new InconclusiveError('This check needs credentials.', { kind: 'credentials' });
    case 'other-user':
      return new InconclusiveError('This check needs two users.', { kind: 'other-user' });
    case 'restricted-user':
      return new NotApplicableError('This check needs a user that may not send messages.', {
        kind: 'restricted-user',
      });
    default:
      return new NotApplicableError(
        unmet.startsWith('no-')
          ? `${subject} declares ${unmet.slice(3).replace('-', ' ')}.`
          : `${subject} does not declare ${unmet.replace('-', ' ')}.`,
      );
  }
}

/** Supports the members of every version: 1.0, 0.3 and 0.1. */
function requiresCredentials({ securityRequirements, security, authentication }: JsonObject): boolean {
  const schemes = isJsonObject(authentication) ? authentication.schemes : undefined;
  return (asList(securityRequirements) ?? asList(security) ?? listOf(schemes)).length > 0;
}
