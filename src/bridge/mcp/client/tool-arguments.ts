import type { Tool } from '@modelcontextprotocol/client';
import { isJsonObject, parseBoundedJson } from '../../../primitives/json.ts';
import { invalidField } from '../../../protocol/errors.ts';
import type { Message } from '../../../protocol/message.ts';
import { textOf } from '../../../protocol/part.ts';

interface Property {
  readonly type?: unknown;
}

/**
 * Reads the arguments of a tool from a message: merged data parts, or the text if the tool has or requires exactly one
 * parameter.
 *
 * @throws A2AError `INVALID_PARAMS`
 */
export function parseToolArguments({ parts }: Message, { inputSchema }: Tool): { [name: string]: unknown } {
  const result: { [name: string]: unknown } = {};
  let hasData = false;
  for (const [index, part] of parts.entries()) {
    if (!('data' in part)) continue;
    if (!isJsonObject(part.data))
      throw invalidField(`message.parts[${index}].data`, 'must be an object with the arguments of the tool');
    Object.assign(result, part.data);
    hasData = true;
  }
  if (hasData) return result;
  const properties = (inputSchema.properties ?? {}) as { readonly [name: string]: Property };
  const names = Object.keys(properties);
  if (names.length === 0) return result;
  const required = inputSchema.required ?? [];
  const [only] = names.length === 1 ? names : required.length === 1 ? required : [];
  if (only === undefined) {
    const parameters = names
      .map((name) => (required.includes(name) ? name : `${name} (optional)`))
      .join(', ');
    throw invalidField(
      'message.parts',
      `must have a data part with the arguments of the tool: ${parameters}`,
    );
  }
  return { [only]: convertText(textOf(parts), properties[only]) };
}

/** Converts text to the type of the parameter. The tool rejects text that cannot be converted. */
function convertText(text: string, property: Property | undefined): unknown {
  const type = property?.type;
  if (type === undefined || [type].flat().includes('string')) return text;
  try {
    return parseBoundedJson(text);
  } catch {
    return text;
  }
}
