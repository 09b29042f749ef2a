import { isJsonObject, parseJsonOrUndefined } from '../../primitives/json.ts';

/** Posts a JSON-RPC request to an agent. @returns the body of the response, empty if there is none. */
export type PostJson = (body: string) => Promise<string>;

/**
 * Detects the version of an agent whose card fits 0.1 and 0.3: calls the send method of each without a message, which
 * has no effect if the method exists.
 *
 * @returns undefined if the responses do not differ.
 */
export async function probeVersion(post: PostJson): Promise<'0.1' | '0.3' | undefined> {
  const [lacks0_3, lacks0_1] = await Promise.all([
    isUnknownMethod(post, 'message/send'),
    isUnknownMethod(post, 'tasks/send'),
  ]);
  if (lacks0_3 === undefined || lacks0_1 === undefined || lacks0_3 === lacks0_1) return undefined;
  return lacks0_3 ? '0.1' : '0.3';
}

/** Returns true if the method does not exist, undefined if the response is not JSON-RPC. */
async function isUnknownMethod(post: PostJson, method: string): Promise<boolean | undefined> {
  const response = parseJsonOrUndefined(
    await post(JSON.stringify({ jsonrpc: '2.0', id: method, method, params: {} })),
  );
  if (!isJsonObject(response) || response.jsonrpc !== '2.0') return undefined;
  return isJsonObject(response.error) && response.error.code === -32601;
}
