import type { ElicitResult } from '@modelcontextprotocol/client';
import type { Message } from '../../../protocol/message.ts';
import { type Part, textOf } from '../../../protocol/part.ts';

/** One field of a form. */
interface Field {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
}

/** What a server wants to know. */
export interface ElicitationForm {
  readonly message: string;
  readonly requestedSchema: {
    readonly properties?: { readonly [name: string]: Field };
    readonly required?: readonly string[];
  };
}

/** Writes a form as the question of an agent: for people, and with its schema for programs. */
export function formatElicitation({ message, requestedSchema }: ElicitationForm): Part[] {
  const fields = Object.entries(requestedSchema.properties ?? {});
  const lines = fields.map(
    ([name, { type, title, description, enum: choices }]) =>
      `- ${name} (${choices?.join(' | ') ?? type ?? 'string'}): ${description ?? title ?? name}`,
  );
  const text = fields.length > 1 ? `${message}\n\n${lines.join('\n')}` : message;
  return [{ text }, { data: { requestedSchema }, mediaType: 'application/json' }];
}

/**
 * Reads the answer of a caller: its data, or its text where there is one field. Metadata `action` may say `decline` or
 * `cancel`.
 *
 * @returns what is missing, as a text, where it is no answer to the form.
 */
export function parseElicitationAnswer(
  { parts, metadata }: Message,
  { requestedSchema }: ElicitationForm,
): ElicitResult | string {
  const action = metadata?.action;
  if (action === 'decline' || action === 'cancel') return { action };
  const { properties = {}, required = [] } = requestedSchema;
  const names = Object.keys(properties);
  const given: { [name: string]: unknown } = {};
  for (const part of parts)
    if ('data' in part && typeof part.data === 'object' && part.data !== null)
      Object.assign(given, part.data);
  const text = textOf(parts).trim();
  const [only] = names;
  if (Object.keys(given).length === 0 && text !== '') {
    if (names.length === 1 && only !== undefined) given[only] = text;
    else Object.assign(given, objectIn(text));
  }
  const content: { [name: string]: string | number | boolean | string[] } = {};
  for (const [name, field] of Object.entries(properties)) {
    const value = valueOf(given[name], field);
    if (value !== undefined) content[name] = value;
    else if (required.includes(name) || given[name] !== undefined)
      return `${name} is needed as ${field.enum?.join(' or ') ?? field.type ?? 'text'}. Send data with ${names.join(', ')}.`;
  }
  return { action: 'accept', content };
}

/** A value as the field wants it; people say numbers and yes or no in words. */
function valueOf(
  given: unknown,
  { type = 'string', enum: choices }: Field,
): string | number | boolean | string[] | undefined {
  if (given === undefined) return undefined;
  const text = typeof given === 'string' ? given.trim() : undefined;
  switch (type) {
    case 'number':
    case 'integer': {
      const value = text === undefined || text === '' ? given : Number(text);
      if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
      return type === 'integer' && !Number.isInteger(value) ? undefined : value;
    }
    case 'boolean':
      if (typeof given === 'boolean') return given;
      if (/^(yes|y|true|ok)$/i.test(text ?? '')) return true;
      return /^(no|n|false)$/i.test(text ?? '') ? false : undefined;
    case 'array':
      if (Array.isArray(given) && given.every((each) => typeof each === 'string')) return given;
      return text?.split(',').map((each) => each.trim());
    default:
      if (typeof given !== 'string') return undefined;
      return choices && !choices.includes(given) ? undefined : given;
  }
}

function objectIn(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
