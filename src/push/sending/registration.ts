import type { EgressPolicy } from '../../egress/egress-policy.ts';
import { invalidField } from '../../protocol/errors.ts';
import type { PushConfig } from '../../protocol/push.ts';
import { isUrl } from '../../primitives/web/parse-url.ts';

const schemePattern = /^[\w!#$%&'*+.^`|~-]+$/;
/** Printable ASCII, which every HTTP header accepts. */
const headerValuePattern = /^[\x20-\x7e]*$/;

/**
 * Validates a push configuration, including its URL against the egress policy.
 *
 * @throws {@link A2AError} `INVALID_PARAMS`, which reveals nothing about the network.
 */
export function checkPushConfig({ url, token, authentication }: PushConfig, policy: EgressPolicy): void {
  if (!isUrl(url)) throw invalidField('url', 'must be an absolute URL');
  try {
    policy.check(url, 'webhook');
  } catch {
    // The reason of the policy would reveal which hosts exist.
    throw invalidField('url', 'must be a URL that the egress policy of this agent allows');
  }
  if (token !== undefined && !headerValuePattern.test(token))
    throw invalidField('token', 'must contain only printable ASCII characters');
  if (authentication === undefined) return;
  const { scheme, credentials = '' } = authentication;
  if (scheme !== '' && !schemePattern.test(scheme))
    throw invalidField('authentication.scheme', 'must be the name of an HTTP authentication scheme');
  if (!headerValuePattern.test(credentials))
    throw invalidField('authentication.credentials', 'must contain only printable ASCII characters');
}
