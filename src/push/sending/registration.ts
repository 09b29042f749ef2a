import type { EgressPolicy } from '../../egress/egress-policy.ts';
import { invalidField } from '../../protocol/errors.ts';
import type { PushConfig } from '../../protocol/push.ts';

const schemeForm = /^[\w!#$%&'*+.^`|~-]+$/;
/** What HTTP allows in a header, except for tabs and for what is not ASCII. */
const valueForm = /^[\x20-\x7e]*$/;

/**
 * Checks that notifications can be sent to a webhook, and may be.
 *
 * @throws {@link A2AError} `INVALID_PARAMS`, in words that tell a stranger nothing about the network.
 */
export function checkPushConfig({ url, token, authentication }: PushConfig, policy: EgressPolicy): void {
  if (!URL.canParse(url)) throw invalidField('url', 'must be a URL');
  try {
    policy.check(url, 'webhook');
  } catch {
    // Which of its reasons the policy had would tell what there is to be found.
    throw invalidField('url', 'is not a place that this agent sends notifications to');
  }
  if (token !== undefined && !valueForm.test(token))
    throw invalidField('token', 'must be something that a header can hold');
  if (authentication === undefined) return;
  const { scheme, credentials = '' } = authentication;
  if (scheme !== '' && !schemeForm.test(scheme))
    throw invalidField('authentication.scheme', 'must be the name of an HTTP authentication scheme');
  if (!valueForm.test(credentials))
    throw invalidField('authentication.credentials', 'must be something that a header can hold');
}
