import type { RequestMember } from '../../../../../src/dialects/http/request-members.ts';
import {
  asJsonObject,
  isJsonObject,
  type JsonObject,
  parseJsonOrUndefined,
} from '../../../../../src/primitives/json.ts';
import { formatBody, type RequestDraft } from './request-draft.ts';

/** Inserts a member with a valid value into the body, and the objects that contain it. */
export function insertMember(draft: RequestDraft, { path, example }: RequestMember): string {
  const body = asJsonObject(parseJsonOrUndefined(draft.body)) ?? {};
  const names = path.split('.');
  const all = draft.transport === 'JSONRPC' ? ['params', ...names] : names;
  return formatBody(insertAt(body, all, example));
}

/** `parts[]` stands for the last item of the list. */
function insertAt(target: JsonObject, [name = '', ...rest]: readonly string[], example: unknown): JsonObject {
  const isList = name.endsWith('[]');
  const key = isList ? name.slice(0, -2) : name;
  const former = Object.hasOwn(target, key) ? target[key] : undefined;
  if (rest.length === 0) return { ...target, [key]: example };
  if (!isList) return { ...target, [key]: insertAt(asJsonObject(former) ?? {}, rest, example) };
  const items: unknown[] = Array.isArray(former) ? former : [];
  const last = items.at(-1);
  const item = insertAt(isJsonObject(last) ? last : {}, rest, example);
  return { ...target, [key]: [...items.slice(0, -1), item] };
}
