import { toBase64 } from '../../../../../src/dialects/protobuf/base64.ts';
import { encodeFrame } from '../../../../../src/dialects/protobuf/encode-message.ts';
import { findGrpcMethod } from '../../../../../src/dialects/protobuf/grpc-service.ts';
import { formatCurlCommand } from '../../../../../src/primitives/formats/curl-command.ts';
import { parseJsonOrUndefined } from '../../../../../src/primitives/json.ts';
import { redactedPlaceholder } from '../../../../../src/primitives/redaction/redaction.ts';
import { isStreamingOperation } from '../../../../../src/protocol/agent.ts';
import { type OperationModel, readDraft, type RequestDraft } from './request-draft.ts';
import { secretHeaderNames, withoutSecrets } from './without-secrets.ts';

/** Formats a draft as a curl command; secrets become shell variables. @returns undefined if curl cannot send it */
export function draftToCurl(draft: RequestDraft, requiredCredentials: readonly string[]): string | undefined {
  const names = secretHeaderNames(requiredCredentials);
  const { method, url, headers, body } = withoutSecrets(draft, names);
  const named = Object.fromEntries(headers.map(({ name, value }) => [name.toLowerCase(), value]));
  const secrets = draft.hasCredentials ? names : [];
  const http2Bytes = draft.transport === 'GRPC' ? grpcBytes(draft) : undefined;
  if (draft.transport === 'GRPC' && http2Bytes === undefined) return undefined;
  return formatCurlCommand({
    method,
    url,
    headers: { ...Object.fromEntries(secrets.map((name) => [name, redactedPlaceholder])), ...named },
    body: method === 'POST' ? body : '',
    isStream: isStreamingOperation(draft.operation),
    http2Bytes,
  });
}

function grpcBytes(draft: RequestDraft): string | undefined {
  try {
    const method = findGrpcMethod(new URL(draft.url).pathname)?.method;
    return method && toBase64(encodeFrame(method.request, parseJsonOrUndefined(draft.body)));
  } catch {
    return undefined;
  }
}

/** Formats a draft as a program with the client of Dragoman, without secrets. @returns undefined if the draft is invalid */
export function draftToCode(
  draft: RequestDraft,
  agent: { readonly url: string; readonly requiredCredentials: readonly string[] },
): string | undefined {
  const model = readDraft(withoutSecrets(draft, secretHeaderNames(agent.requiredCredentials)));
  if (!model) return undefined;
  const { operation, version, transport } = draft;
  const needsToken = draft.hasCredentials && agent.requiredCredentials.length > 0;
  const options = [
    `versions: [${quote(version)}]`,
    `transports: [${quote(transport)}]`,
    ...(needsToken ? ["auth: bearer(process.env.TOKEN ?? '')"] : []),
  ];
  const argument = operation === 'extendedCard' ? '' : formatModel(model);
  const call = `agent.${operation}(${argument})`;
  return [
    `import { ${needsToken ? 'bearer, ' : ''}connect } from 'dragoman/client';`,
    '',
    `const agent = connect(${quote(agent.url)}, { ${options.join(', ')} });`,
    ...(isStreamingOperation(operation)
      ? [`for await (const event of ${call}) console.log(event);`]
      : operation === 'deletePushConfig'
        ? [`await ${call};`]
        : [`console.log(await ${call});`]),
    'await agent.close();',
    '',
  ].join('\n');
}

/** Ids of messages are chosen by the client for each message. */
function formatModel(model: OperationModel): string {
  const text = JSON.stringify(model, (_name, value: unknown) => value, 2);
  return text.replace(/("messageId": )"[^"\\]*"/, '$1crypto.randomUUID()');
}

/** Quotes a text for code. */
function quote(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll("'", String.raw`\'`).replaceAll(String.raw`\"`, '"')}'`;
}
