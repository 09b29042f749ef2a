import type { Tool } from '@modelcontextprotocol/server';
import type { Action, Bridge, JsonSchema } from '../../action-types.ts';
import { truncate } from '../../../primitives/text.ts';
import { descriptionWithExamples } from '../../actions/describe-actions.ts';
import type { ServerLibrary } from '../load-mcp-library.ts';
import { toolResultSchema } from './tool-result.ts';
import { assignToolNames } from '../../tools/tool-names.ts';

/** Maximum length of a tool description, in characters. */
const maxDescriptionLength = 4_000;

/** Validates a value. @returns the error message, or undefined if the value is valid */
type SchemaCheck = (value: unknown) => string | undefined;

/** An action as a tool. */
export interface ToolEntry {
  readonly action: Action;
  readonly tool: Tool;
  /** Validates the arguments of a call. */
  readonly checkArguments: SchemaCheck;
  /** Validates the structured content of a result. */
  readonly checkResult: SchemaCheck;
}

/** Tools of the actions of a bridge, rebuilt when the actions change. */
export class ToolRegistry {
  readonly #bridge: Bridge;
  readonly #library: ServerLibrary;
  readonly #stop: () => void;
  #entries: Map<string, ToolEntry> | undefined;

  constructor(bridge: Bridge, library: ServerLibrary) {
    this.#bridge = bridge;
    this.#library = library;
    this.#stop = bridge.onChange(() => {
      this.#entries = undefined;
    });
  }

  /** Tools by name. */
  get entries(): ReadonlyMap<string, ToolEntry> {
    this.#entries ??= this.#buildEntries();
    return this.#entries;
  }

  close(): void {
    this.#stop();
  }

  #buildEntries(): Map<string, ToolEntry> {
    const actions = this.#bridge.actions();
    const names = assignToolNames(actions.map(({ name }) => name));
    // A validator caches compiled schemas, so each list gets its own to release the old ones.
    const validator = new this.#library.AjvJsonSchemaValidator();
    const compiled = new Map<string, SchemaCheck | undefined>();
    const compile = (schema: JsonSchema): SchemaCheck | undefined => {
      // Compiling is slow, and most skills of a card have the same schema.
      const text = JSON.stringify(schema);
      if (!compiled.has(text)) compiled.set(text, compileCheck(validator, schema));
      return compiled.get(text);
    };
    const entries = new Map<string, ToolEntry>();
    for (const action of actions) {
      const name = names.get(action.name);
      if (name !== undefined) entries.set(name, createEntry(name, action, compile));
    }
    return entries;
  }
}

/** @returns undefined for an invalid schema, which would make clients reject the whole list of tools */
function compileCheck(
  validator: InstanceType<ServerLibrary['AjvJsonSchemaValidator']>,
  schema: JsonSchema,
): SchemaCheck | undefined {
  try {
    const check = validator.getValidator(withoutId(schema));
    return (value) => {
      const result = check(value);
      return result.valid ? undefined : result.errorMessage.replaceAll(/(^|, )data\/?/g, '$1').trim();
    };
  } catch {
    return undefined;
  }
}

function createEntry(
  name: string,
  action: Action,
  compile: (schema: JsonSchema) => SchemaCheck | undefined,
): ToolEntry {
  const { parameters } = action;
  const isObject = parameters.type === 'object';
  const checkArguments = hasOnlyStrings(parameters)
    ? (value: unknown) => compile(parameters)?.(value)
    : isObject
      ? compile(parameters)
      : undefined;
  const resultSchema = toolResultSchema(action.output);
  const checkResult = compile(resultSchema);
  return {
    action,
    checkArguments: checkArguments ?? (() => undefined),
    checkResult: checkResult ?? (() => undefined),
    tool: {
      name,
      title: action.title,
      description: truncate(descriptionWithExamples(action), maxDescriptionLength),
      inputSchema: (checkArguments ? withoutId(parameters) : { type: 'object' }) as Tool['inputSchema'],
      outputSchema: checkResult ? resultSchema : toolResultSchema(undefined),
      annotations: { title: action.title, openWorldHint: true },
      _meta: { 'dragoman/action': action.name },
    },
  };
}

/** Returns true for a schema of plain string parameters and files, which is valid without compiling it. */
function hasOnlyStrings({ properties, type, required, additionalProperties, ...rest }: JsonSchema): boolean {
  if (type !== 'object' || additionalProperties !== false || Object.keys(rest).length > 0) return false;
  if (!Array.isArray(required)) return false;
  return Object.entries(properties as { [name: string]: JsonSchema }).every(([name, property]) => {
    const { type: kind, description = '', ...more } = property;
    return (
      name === 'files' ||
      (kind === 'string' && typeof description === 'string' && Object.keys(more).length === 0)
    );
  });
}

/** Removes `$id`, because different schemas of two agents may have the same one. */
function withoutId({ $id: _id, ...schema }: JsonSchema): { [keyword: string]: unknown } {
  return schema;
}
