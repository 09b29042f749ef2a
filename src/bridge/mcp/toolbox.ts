import type { Tool } from '@modelcontextprotocol/server';
import type { Action, Bridge, Schema } from '../action.ts';
import type { ServerLibrary } from './library.ts';
import { answerSchema } from './tool-result.ts';
import { nameTools } from './tool-names.ts';

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
export class Toolbox {
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
    const names = nameTools(actions.map(({ name }) => name));
    // A validator keeps what it compiled, so each list gets its own.
    const validator = new this.#library.AjvJsonSchemaValidator();
    const compile = (schema: Schema): Check | undefined => {
      try {
        const check = validator.getValidator(withoutId(schema));
        return (value) => {
          const result = check(value);
          return result.valid ? undefined : result.errorMessage.replaceAll(/(^|, )data\/?/g, '$1').trim();
        };
      } catch {
        // One schema that makes no sense would make clients refuse the whole list.
        return undefined;
      }
    };
    const entries = new Map<string, ToolEntry>();
    for (const action of actions) {
      const name = names.get(action.name);
      if (name !== undefined) entries.set(name, entryOf(name, action, compile));
    }
    return entries;
  }
}

function entryOf(name: string, action: Action, compile: (schema: Schema) => Check | undefined): ToolEntry {
  const isObject = action.parameters.type === 'object';
  const checkArguments = isObject ? compile(action.parameters) : undefined;
  const promised = answerSchema(action.output);
  const checkAnswer = compile(promised);
  return {
    action,
    checkArguments: checkArguments ?? (() => undefined),
    checkAnswer: checkAnswer ?? (() => undefined),
    tool: {
      name,
      title: action.title,
      description: descriptionOf(action),
      inputSchema: (checkArguments
        ? withoutId(action.parameters)
        : { type: 'object' }) as Tool['inputSchema'],
      outputSchema: checkAnswer ? promised : answerSchema(undefined),
      annotations: { title: action.title, openWorldHint: true },
      _meta: { 'dragoman/action': action.name },
    },
  };
}

/** Two agents may give different schemas the same id; where they stand they need none. */
function withoutId({ $id: _id, ...schema }: Schema): { [keyword: string]: unknown } {
  return schema;
}

function descriptionOf({ description, examples }: Action): string {
  const shown = examples.length > 0 ? `\n\nExamples:\n${examples.map((each) => `- ${each}`).join('\n')}` : '';
  const text = `${description}${shown}`;
  return text.length > maxDescription ? `${text.slice(0, maxDescription)}…` : text;
}
