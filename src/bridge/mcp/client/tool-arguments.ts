import type { Tool } from '@modelcontextprotocol/client';
import { invalidField } from '../../../protocol/errors.ts';
import type { Message } from '../../../protocol/message.ts';
import { textOf } from '../../../protocol/part.ts';

/** The parameters of a tool that a text alone can stand for, and whether it is a text that they want. */
interface Property {
  readonly type?: unknown;
}

/**
 * Reads the arguments for a tool out of a message: its data parts together, or its text where the tool has one
 * parameter, or needs one.
 *
 * @throws A2AError `INVALID_PARAMS`
 */
export function parseToolArguments({ parts }: Message, { inputSchema }: Tool): { [name: string]: unknown } {
  const given: { [name: string]: unknown } = {};
  let hasData = false;
  for (const [index, part] of parts.entries()) {
    if (!('data' in part)) continue;
    if (typeof part.data !== 'object' || part.data === null || Array.isArray(part.data))
      throw invalidField(`message.parts[${index}].data`, 'must be an object with the arguments of the tool');
    Object.assign(given, part.data);
    hasData = true;
  }
  if (hasData) return given;
  const properties = (inputSchema.properties ?? {}) as { readonly [name: string]: Property };
  const names = Object.keys(properties);
  if (names.length === 0) return given;
  const required = inputSchema.required ?? [];
  const [only] = names.length === 1 ? names : required.length === 1 ? required : [];
  if (only === undefined) {
    const wanted = names.map((name) => (required.includes(name) ? name : `${name} (optional)`)).join(', ');
    throw invalidField('message.parts', `must have a data part with the arguments of the tool: ${wanted}`);
  }
  return { [only]: valueOf(textOf(parts), properties[only]) };
}

/** A text as the parameter wants it. What cannot be read is for the tool to refuse. */
function valueOf(text: string, property: Property | undefined): unknown {
  const type = property?.type;
  if (type === undefined || [type].flat().includes('string')) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
