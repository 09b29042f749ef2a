import { isJsonObject, type JsonObject, parseJsonOrUndefined } from '../../primitives/json.ts';

/** Posts a JSON-RPC request to an agent. @returns the body of the response, empty if there is none. */
export type PostJson = (body: string) => Promise<string>;

type OldVersion = '0.1' | '0.3';

const sendMethods: Readonly<Record<OldVersion, string>> = { '0.1': 'tasks/send', '0.3': 'message/send' };

/**
 * Detects the version of an agent whose card fits 0.1 and 0.3: calls the send method of each without a message, which has no
 * effect, and compares the responses with that of a method that does not exist. The code of the error does not matter.
 *
 * @returns undefined if the responses do not differ.
 */
export async function probeVersion(post: PostJson): Promise<OldVersion | undefined> {
  const [unknown, of0_1, of0_3] = await Promise.all(
    ['dragoman/unknown', sendMethods['0.1'], sendMethods['0.3']].map((method) => call(post, method, {})),
  );
  if (!of0_1 || !of0_3) return undefined;
  return oneOf(!isUnknownMethod(of0_1, unknown), !isUnknownMethod(of0_3, unknown));
}

/** Detects the version like {@link probeVersion}, but sends a message with each method. */
export async function probeVersionByMessage(post: PostJson): Promise<OldVersion | undefined> {
  const message0_1 = { role: 'user', parts: [{ type: 'text', text: 'hello' }] };
  const message0_3 = {
    kind: 'message',
    messageId: crypto.randomUUID(),
    role: 'user',
    parts: [{ kind: 'text', text: 'hello' }],
  };
  const ids = { id: crypto.randomUUID(), sessionId: crypto.randomUUID() };
  const [sent0_1, sent0_3] = await Promise.all([
    call(post, sendMethods['0.1'], { ...ids, message: message0_1 }),
    call(post, sendMethods['0.3'], { message: message0_3 }),
  ]);
  return oneOf(isTask0_1(sent0_1?.result), isResult0_3(sent0_3?.result));
}

/** Calls a method. @returns undefined if the response is not JSON-RPC. */
async function call(post: PostJson, method: string, params: object): Promise<JsonObject | undefined> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: method, method, params });
  const response = parseJsonOrUndefined(await post(body));
  return isJsonObject(response) && response.jsonrpc === '2.0' ? response : undefined;
}

function oneOf(is0_1: boolean, is0_3: boolean): OldVersion | undefined {
  if (is0_1 === is0_3) return undefined;
  return is0_1 ? '0.1' : '0.3';
}

/** Returns true if the response is that to an unknown method, apart from the name of the method. */
function isUnknownMethod({ error, id }: JsonObject, unknown: JsonObject | undefined): boolean {
  if (!isJsonObject(error)) return false;
  if (error.code === -32601) return true;
  const other = isJsonObject(unknown?.error) ? unknown.error : {};
  const message = (each: JsonObject, method: unknown): string =>
    String(each.message).replaceAll(String(method), '');
  return error.code === other.code && message(error, id) === message(other, unknown?.id);
}

function isTask0_1(result: unknown): boolean {
  return isJsonObject(result) && isJsonObject(result.status) && result.kind === undefined;
}

function isResult0_3(result: unknown): boolean {
  return isJsonObject(result) && (result.kind === 'task' || result.kind === 'message');
}
