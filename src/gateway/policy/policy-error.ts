import { A2AError } from '../../protocol/errors.ts';
import { limitExceeded } from '../../server/limits/limits.ts';
import type { PolicyKind } from './policy.ts';

const denials: { readonly [kind in Exclude<PolicyKind, 'rate' | 'quota' | 'size'>]: string } = {
  access: 'The policy of the gateway does not allow this operation',
  version: 'The policy of the gateway does not allow this protocol version',
  transport: 'The policy of the gateway does not allow this transport',
};

/** Creates the error of a denied call. It names the kind of the rule, and nothing of its content. */
export function policyError(kind: PolicyKind, retryAfter = 1): A2AError {
  switch (kind) {
    case 'rate':
      return withKind(kind, limitExceeded('policy', 'The rate limit of the policy is exceeded', retryAfter));
    case 'quota':
      return withKind(kind, limitExceeded('policy', 'The quota of the policy is used up', retryAfter));
    case 'size':
      return new A2AError(
        'PAYLOAD_TOO_LARGE',
        'The request is larger than the policy of the gateway allows',
        {
          details: { policy: kind },
        },
      );
    default:
      return new A2AError('PERMISSION_DENIED', denials[kind], { details: { policy: kind } });
  }
}

function withKind(kind: PolicyKind, { reason, message, details }: A2AError): A2AError {
  return new A2AError(reason, message, { details: { ...details, policy: kind } });
}
