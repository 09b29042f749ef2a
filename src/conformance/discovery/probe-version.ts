import { parseJsonOrUndefined } from '../../primitives/json.ts';
import { isJsonObject } from '../drivers/normalized-views.ts';

/** Posts a JSON-RPC request to an agent. @returns the body of the answer; empty where there is none. */
export type PostJson = (body: string) => Promise<string>;

/**
 * Finds out which version an agent speaks whose card could be of either: it is asked for the methods by which each of
 * them sends, without a message, which does no harm where a method is known.
 *
 * @returns undefined where the answers do not tell.
 */
export async function probeVersion(post: PostJson): Promise<'0.1' | '0.3' | undefined> {
  const [later, first] = await Promise.all([isUnknown(post, 'message/send'), isUnknown(post, 'tasks/send')]);
  if (later === undefined || first === undefined || later === first) return undefined;
  return later ? '0.1' : '0.3';
}

/** True when an agent says that there is no such method; undefined when it says nothing that could be understood. */
async function isUnknown(post: PostJson, method: string): Promise<boolean | undefined> {
  const answer = parseJsonOrUndefined(
    await post(JSON.stringify({ jsonrpc: '2.0', id: method, method, params: {} })),
  );
  if (!isJsonObject(answer) || answer.jsonrpc !== '2.0') return undefined;
  return isJsonObject(answer.error) && answer.error.code === -32601;
}
