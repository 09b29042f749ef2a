import type { ElicitResult } from '@modelcontextprotocol/client';
import { asJsonObject, parseJsonOrUndefined } from '../../../primitives/json.ts';
import type { Message } from '../../../protocol/message.ts';
import { type Part, textOf } from '../../../protocol/part.ts';

interface FormField {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
}

/** Form of an MCP elicitation request. */
export interface ElicitationForm {
  readonly message: string;
  readonly requestedSchema: {
    readonly properties?: { readonly [name: string]: FormField };
    readonly required?: readonly string[];
  };
}

/** Formats an elicitation as an A2A message: text for users, and the schema as data for programs. */
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
 * Parses the response to an elicitation: data parts, or text if the form has one field. Metadata `action` may be
 * `decline` or `cancel`.
 *
 * @returns an error message if the response does not match the form.
 */
export function parseElicitationAnswer(
  { parts, metadata }: Message,
  { requestedSchema }: ElicitationForm,
): ElicitResult | string {
  const action = metadata?.action;
  if (action === 'decline' || action === 'cancel') return { action };
  const { properties = {}, required = [] } = requestedSchema;
  const names = Object.keys(properties);
  const values: { [name: string]: unknown } = {};
  for (const part of parts) if ('data' in part) Object.assign(values, asJsonObject(part.data));
  const text = textOf(parts).trim();
  const [only] = names;
  if (Object.keys(values).length === 0 && text !== '') {
    if (names.length === 1 && only !== undefined) values[only] = text;
    else Object.assign(values, asJsonObject(parseJsonOrUndefined(text)));
  }
  const content: { [name: string]: string | number | boolean | string[] } = {};
  for (const [name, field] of Object.entries(properties)) {
    const value = convertValue(values[name], field);
    if (value !== undefined) content[name] = value;
    else if (required.includes(name) || values[name] !== undefined)
      return `${name} must be ${field.enum?.join(' or ') ?? field.type ?? 'text'}. Send data with ${names.join(', ')}.`;
  }
  return { action: 'accept', content };
}

/** Converts a value to the type of the field, including text such as `42` or `yes`. */
function convertValue(
  values: unknown,
  { type = 'string', enum: choices }: FormField,
): string | number | boolean | string[] | undefined {
  if (values === undefined) return undefined;
  const text = typeof values === 'string' ? values.trim() : undefined;
  switch (type) {
    case 'number':
    case 'integer': {
      const value = text === undefined || text === '' ? values : Number(text);
      if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
      return type === 'integer' && !Number.isInteger(value) ? undefined : value;
    }
    case 'boolean':
      if (typeof values === 'boolean') return values;
      if (/^(yes|y|true|ok)$/i.test(text ?? '')) return true;
      return /^(no|n|false)$/i.test(text ?? '') ? false : undefined;
    case 'array':
      if (Array.isArray(values) && values.every((each) => typeof each === 'string')) return values;
      return text?.split(',').map((each) => each.trim());
    default:
      if (typeof values !== 'string') return undefined;
      return choices && !choices.includes(values) ? undefined : values;
  }
}
