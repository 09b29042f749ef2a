import type { MaybePromise } from '../../primitives/maybe-promise.ts';
import { A2AError, type FieldViolation, invalidField } from '../../protocol/errors.ts';
import type { Message } from '../../protocol/message.ts';
import { namedSkillIds, type SendRequest } from '../../protocol/requests.ts';
import type { AgentDefinition, ProcessFunction } from '../agent-definition.ts';
import { type AgentOutput, artifact, toIterator } from '../agent-output.ts';
import type { MessageClass } from '../messages/classify-message.ts';
import type { ProcessContext } from '../process-context.ts';
import type { SkillDefinition } from './define-skill.ts';
import { formatIssuePath, type StandardSchema } from './standard-schema.ts';

/** Maximum number of violations in an error. */
const maxViolations = 20;

/** Validates the data of messages for skills with schemas, and runs these skills. */
export class StructuredSkills {
  readonly #skills: ReadonlyMap<string, SkillDefinition>;
  readonly #process: ProcessFunction | undefined;

  /** Returns undefined if no skill has a schema or a function of its own. */
  static of({ skills = [], process }: AgentDefinition): StructuredSkills | undefined {
    const structured = skills.filter(({ input, run }) => input ?? run);
    return structured.length === 0 ? undefined : new StructuredSkills(structured, process);
  }

  private constructor(skills: readonly SkillDefinition[], process: ProcessFunction | undefined) {
    this.#skills = new Map(skills.map((skill) => [skill.id, skill]));
    if (this.#skills.size < skills.length) throw invalidField('skills', 'must have different ids');
    this.#process = process;
  }

  /** @throws {@link A2AError} `INVALID_PARAMS` if the message starts a task and its data is invalid. */
  async check(incoming: MaybePromise<MessageClass>, request: SendRequest): Promise<MessageClass> {
    const messageClass = await incoming;
    const skill = messageClass.kind === 'new' ? this.#select(request) : undefined;
    if (skill) await parseInput(skill, request.message);
    return messageClass;
  }

  /** The process function: runs the skill of the message, or the process function of the agent. */
  readonly process: ProcessFunction = (context) => {
    const { message, metadata } = context;
    const skill = this.#select({ message, ...(metadata && { metadata }) });
    if (skill?.run) return runSkill(skill, context);
    if (this.#process) return this.#process(context);
    throw this.#unknownSkill();
  };

  #select(request: SendRequest): SkillDefinition | undefined {
    const names = namedSkillIds(request);
    const named = names.map((id) => this.#skills.get(id)).find((skill) => skill !== undefined);
    if (named) return named;
    // A skill that requires credentials has to be named: servers authorize named skills.
    const [only] = this.#skills.values();
    const isImplicit = names.length === 0 && this.#skills.size === 1 && !only?.securityRequirements?.length;
    if (only && isImplicit && (!this.#process || findData(request.message))) return only;
    if (this.#process) return undefined;
    throw this.#unknownSkill();
  }

  #unknownSkill(): A2AError {
    return invalidField('message.metadata.skillId', `must be one of ${[...this.#skills.keys()].join(', ')}`);
  }
}

/** Returns the process function of an agent. @throws {@link A2AError} if the definition is incomplete. */
export function processOf(
  { process, name, description }: AgentDefinition,
  skills: StructuredSkills | undefined,
): ProcessFunction {
  for (const [field, value] of Object.entries({ name, description }))
    if (typeof value !== 'string') throw invalidField(field, 'must be a text');
  const chosen = skills?.process ?? process;
  if (typeof chosen === 'function') return chosen;
  throw invalidField('process', 'must be a function, unless a skill has run');
}

async function* runSkill(skill: SkillDefinition, context: ProcessContext): AsyncGenerator<AgentOutput> {
  const output = skill.run?.(await parseInput(skill, context.message), context);
  const iterator = toIterator(output);
  let result: unknown;
  if (iterator) {
    try {
      for (;;) {
        const step: IteratorResult<AgentOutput, unknown> = await iterator.next();
        if (step.done) {
          result = step.value;
          break;
        }
        yield step.value;
      }
    } finally {
      await iterator.return?.();
    }
  } else result = await output;
  const data = await parseOutput(skill, result);
  if (data !== undefined) yield artifact([{ data, mediaType: 'application/json' }]);
}

async function parseInput(skill: SkillDefinition, message: Message): Promise<unknown> {
  const found = findData(message);
  if (!skill.input) return found?.data;
  if (!found) throw invalidField('message.parts', `must contain a data part for the skill ${skill.id}`);
  const violations: FieldViolation[] = [];
  const value = await validate(skill.input, found.data, (path, description) =>
    violations.push({ field: `message.parts[${found.index}].data${path}`, description }),
  );
  const [first] = violations;
  if (!first) return value;
  throw new A2AError('INVALID_PARAMS', `${first.field}: ${first.description}`, { violations });
}

async function parseOutput({ id, output }: SkillDefinition, result: unknown): Promise<unknown> {
  if (!output) return result;
  const issues: string[] = [];
  const value = await validate(output, result, (path, text) => issues.push(`result${path}: ${text}`));
  if (issues.length === 0) return value;
  // Not an A2AError: its message would be sent to the client.
  throw new TypeError(`The skill ${id} returned invalid data: ${issues.join('; ')}`);
}

async function validate(
  schema: StandardSchema,
  value: unknown,
  onIssue: (path: string, message: string) => void,
): Promise<unknown> {
  const result = await schema['~standard'].validate(value);
  if (!result.issues) return result.value;
  for (const issue of result.issues.slice(0, maxViolations)) onIssue(formatIssuePath(issue), issue.message);
  if (result.issues.length === 0) onIssue('', 'is invalid');
  return undefined;
}

function findData({ parts }: Message): { data: unknown; index: number } | undefined {
  const index = parts.findIndex((part) => 'data' in part);
  const part = parts[index];
  return part && 'data' in part ? { data: part.data, index } : undefined;
}
