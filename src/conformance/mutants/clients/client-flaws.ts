import type { ClientInstruction } from '../../clients/client-under-test.ts';
import { isJsonObject, type JsonObject } from '../../../primitives/json.ts';
import { objectOf } from '../../drivers/normalized-views.ts';
import type { RawRequest } from '../../wire/raw-http-client.ts';

/** One wrong behavior of a client. */
export type ClientFlaw =
  | 'accepts-any-card'
  | 'accepts-anything'
  | 'acknowledges-nothing'
  | 'assumes-interface'
  | 'body-in-get'
  | 'changes-context'
  | 'changes-page-token'
  | 'crashes-when-deep'
  | 'crashes-when-large'
  | 'decodes-each-chunk'
  | 'downloads-with-credentials'
  | 'fails-0.2'
  | 'fails-always'
  | 'fails-lists'
  | 'fails-streams'
  | 'forgets-task'
  | 'gives-up-streams'
  | 'hangs-on-wrong-types'
  | 'hides-errors'
  | 'ignores-broken-streams'
  | 'ignores-error-events'
  | 'ignores-extensions'
  | 'ignores-ids'
  | 'ignores-not-found'
  | 'ignores-stream-errors'
  | 'ignores-truncation'
  | 'ignores-unknown-codes'
  | 'impatient'
  | 'keeps-byte-order-mark'
  | 'needs-artifacts'
  | 'needs-milliseconds'
  | 'needs-space-after-colon'
  | 'needs-task'
  | 'needs-task-in-stream'
  | 'needs-working'
  | 'never-falls-back'
  | 'no-credentials'
  | 'no-credentials-for-card'
  | 'no-version-for-card'
  | 'parses-each-chunk'
  | 'parses-each-data-line'
  | 'prefers-json-rpc'
  | 'prefers-old-members'
  | 'reads-without-limit'
  | 'redirects-with-credentials'
  | 'redirects-without-end'
  | 'rejects-comments'
  | 'rejects-late-tasks'
  | 'rejects-unknown-events'
  | 'rejects-unknown-members'
  | 'relative-webhook'
  | 'repeats-at-once'
  | 'repeats-broken-streams'
  | 'repeats-messages'
  | 'repeats-push-token'
  | 'repeats-rejected'
  | 'resumes-interrupted'
  | 'resumes-without-pause'
  | 'splits-at-line-feeds'
  | 'streams-anyway'
  | 'trusts-certificates'
  | 'trusts-notifications'
  | 'unknown-fields'
  | 'uses-any-interface'
  | 'uses-card-url'
  | 'uses-first-interface-only'
  | 'waits-for-end'
  | RequestFlaw;

/** A flaw that changes requests. */
type RequestFlaw = keyof typeof requestFlaws;

type RequestChange = (request: RawRequest, instruction: ClientInstruction) => RawRequest;

const requestFlaws = {
  'accepts-json-only': withHeader('accept', 'application/json'),
  'fixed-message-id': changeMessage((message) => ({ ...message, messageId: 'message-1' })),
  'form-content-type': withHeader('content-type', 'text/plain'),
  'invents-context': changeMessage((message) => ({ contextId: crypto.randomUUID(), ...message })),
  'invents-task': changeMessage((message) => ({ taskId: crypto.randomUUID(), ...message })),
  'no-json-rpc-version': changeJson(({ jsonrpc: _version, ...json }) => json),
  'no-version': withHeader('a2a-version', undefined),
  'old-parts': changeMessage((message) => ({ ...message, parts: [{ kind: 'text', text: 'x' }] })),
  'patch-version': withHeader('a2a-version', '1.0.1'),
  'raw-path': (request) => ({ ...request, url: request.url.replaceAll('%2F', '/') }),
  'token-in-url': (request, { token }) => ({ ...request, url: `${request.url}?access_token=${token}` }),
  'wrong-method': changeJson((json) =>
    json.method === 'SendMessage' ? { ...json, method: 'message/send' } : json,
  ),
  'wrong-role': changeMessage((message) => ({ ...message, role: 'ROLE_AGENT' })),
  'wrong-task': changeJson((json) => {
    const params = objectOf(json.params);
    return typeof params.id === 'string' ? { ...json, params: { ...params, id: 'other' } } : json;
  }),
  'wrong-tenant': changeJson((json) => {
    const { tenant: _tenant, ...params } = objectOf(json.params);
    return { ...json, params };
  }),
} satisfies Record<string, RequestChange>;

/** Applies the flaws that change requests. */
export function corruptRequest(
  request: RawRequest,
  flaws: ReadonlySet<ClientFlaw>,
  instruction: ClientInstruction,
): RawRequest {
  return Object.entries(requestFlaws).reduce(
    (changed, [flaw, change]) => (flaws.has(flaw as RequestFlaw) ? change(changed, instruction) : changed),
    request,
  );
}

function withHeader(name: string, value: string | undefined): RequestChange {
  return (request) => {
    const { [name]: _removed, ...headers } = request.headers ?? {};
    return { ...request, headers: value === undefined ? headers : { ...headers, [name]: value } };
  };
}

function changeJson(change: (json: JsonObject) => JsonObject): RequestChange {
  return (request) => {
    if (typeof request.body !== 'string') return request;
    const json: unknown = JSON.parse(request.body);
    return isJsonObject(json) ? { ...request, body: JSON.stringify(change(json)) } : request;
  };
}

function changeMessage(change: (message: JsonObject) => JsonObject): RequestChange {
  return changeJson((json) => {
    const params = objectOf(json.params);
    return isJsonObject(params.message)
      ? { ...json, params: { ...params, message: change(params.message) } }
      : json;
  });
}
