import type { Tool } from '@modelcontextprotocol/server';
import type { Action, Bridge, JsonSchema } from '../../action-types.ts';
import type { ServerLibrary } from '../load-library.ts';
import { toolResultSchema } from './tool-result.ts';
import { assignToolNames } from './tool-names.ts';

/** How many characters of what an agent says about a skill are passed on. */
const maxDescription = 4_000;

/** Looks at a value. @returns what is wrong with it, or undefined. */
type Check = (value: unknown) => string | undefined;

/** An action as a tool. */
export interface ToolEntry {
  readonly action: Action;
  readonly tool: Tool;
  /** Looks at the arguments of a call. */
  readonly checkArguments: Check;
  /** Looks at the structured content of an answer. */
  readonly checkAnswer: Check;
}

/** The actions of a bridge as tools; made again when they change. */
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

  /** The tools by their names. */
  get entries(): ReadonlyMap<string, ToolEntry> {
    this.#entries ??= this.#make();
    return this.#entries;
  }

  close(): void {
    this.#stop();
  }

  #make(): Map<string, ToolEntry> {
    const actions = this.#bridge.actions();
    const names = assignToolNames(actions.map(({ name }) => name));
    // A validator keeps what it compiled, so each list gets its own.
    const validator = new this.#library.AjvJsonSchemaValidator();
    const compiled = new Map<string, Check | undefined>();
    const compile = (schema: JsonSchema): Check | undefined => {
      // Compiling is slow, and most skills of a card take and give the same.
      const text = JSON.stringify(schema);
      if (!compiled.has(text)) compiled.set(text, checkOf(validator, schema));
      return compiled.get(text);
    };
    const entries = new Map<string, ToolEntry>();
    for (const action of actions) {
      const name = names.get(action.name);
      if (name !== undefined) entries.set(name, entryOf(name, action, compile));
    }
    return entries;
  }
}

/** @returns undefined for a schema that makes no sense: it would make clients refuse the whole list. */
function checkOf(
  validator: InstanceType<ServerLibrary['AjvJsonSchemaValidator']>,
  schema: JsonSchema,
): Check | undefined {
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

function entryOf(
  name: string,
  action: Action,
  compile: (schema: JsonSchema) => Check | undefined,
): ToolEntry {
  const { parameters } = action;
  const isObject = parameters.type === 'object';
  const checkArguments = isPlain(parameters)
    ? (value: unknown) => compile(parameters)?.(value)
    : isObject
      ? compile(parameters)
      : undefined;
  const promised = toolResultSchema(action.output);
  const checkAnswer = compile(promised);
  return {
    action,
    checkArguments: checkArguments ?? (() => undefined),
    checkAnswer: checkAnswer ?? (() => undefined),
    tool: {
      name,
      title: action.title,
      description: descriptionOf(action),
      inputSchema: (checkArguments ? withoutId(parameters) : { type: 'object' }) as Tool['inputSchema'],
      outputSchema: checkAnswer ? promised : toolResultSchema(undefined),
      annotations: { title: action.title, openWorldHint: true },
      _meta: { 'dragoman/action': action.name },
    },
  };
}

/** Whether a schema says no more than which texts an action takes beside files: then it makes sense without a look. */
function isPlain({ properties, type, required, additionalProperties, ...rest }: JsonSchema): boolean {
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

/** Two agents may give different schemas the same id; where they stand they need none. */
function withoutId({ $id: _id, ...schema }: JsonSchema): { [keyword: string]: unknown } {
  return schema;
}

function descriptionOf({ description, examples }: Action): string {
  const shown = examples.length > 0 ? `\n\nExamples:\n${examples.map((each) => `- ${each}`).join('\n')}` : '';
  const text = `${description}${shown}`;
  return text.length > maxDescription ? `${text.slice(0, maxDescription)}…` : text;
}
