import type { Operation } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import { copyJson, isJsonObject, type JsonObject } from '../../primitives/json.ts';
import type { RequestCodec, RequestOf } from '../dialect.ts';
import { strictMode } from '../translation-loss.ts';
import { definesOperation, dialectOfVariant, type OperationVariant } from './operation-request.ts';

/** A member of the parameters of an operation. */
export interface RequestMember {
  /** Path below the parameters, such as `message.parts[].text`. */
  readonly path: string;
  /** JSON type: `string`, `number`, `boolean`, `object`, `any object`, `any JSON` or `list`. */
  readonly type: string;
  /** True if a request without it is invalid. */
  readonly isRequired: boolean;
  /** What the codec demands of the value, such as `must be ROLE_USER or ROLE_AGENT`. */
  readonly rule?: string;
  /** A valid value. */
  readonly example: unknown;
}

type Required<T> = { [K in keyof T]-?: T[K] };

const message: Required<RequestOf['send']['message']> = {
  messageId: '5f2b0c1e-7a52-4b7e-9a0e-1c2d3e4f5a6b',
  role: 'user',
  parts: [
    { text: 'Hello', mediaType: 'text/plain', metadata: { key: 'value' } },
    { raw: 'SGVsbG8=', filename: 'hello.txt', mediaType: 'text/plain', metadata: { key: 'value' } },
    { url: 'https://example.com/a.txt', filename: 'a.txt', mediaType: 'text/plain' },
    { data: { key: 'value' }, mediaType: 'application/json' },
  ],
  contextId: 'context-1',
  taskId: 'task-1',
  extensions: ['https://example.com/extension'],
  referenceTaskIds: ['task-0'],
  metadata: { key: 'value' },
};

const pushTarget = {
  url: 'https://example.com/webhook',
  token: 'token-1',
  authentication: { scheme: 'Bearer', credentials: 'secret-1' },
};

const send: RequestOf['send'] = {
  message,
  configuration: {
    acceptedOutputModes: ['text/plain'],
    historyLength: 10,
    returnImmediately: true,
    pushConfig: { id: 'config-1', ...pushTarget },
  },
  metadata: { key: 'value' },
};

/** A request of each operation with all members of the model. */
const examples: { readonly [O in Operation]: RequestOf[O] } = {
  send,
  stream: send,
  getTask: { id: 'task-1', historyLength: 10 },
  listTasks: {
    contextId: 'context-1',
    status: 'working',
    pageSize: 50,
    pageToken: 'page-2',
    historyLength: 10,
    statusTimestampAfter: '2026-01-01T00:00:00.000Z',
    includeArtifacts: true,
  },
  cancelTask: { id: 'task-1', metadata: { key: 'value' } },
  subscribe: { id: 'task-1' },
  createPushConfig: { taskId: 'task-1', id: 'config-1', ...pushTarget },
  getPushConfig: { taskId: 'task-1', id: 'config-1' },
  listPushConfigs: { taskId: 'task-1', pageSize: 50, pageToken: 'page-2' },
  deletePushConfig: { taskId: 'task-1', id: 'config-1' },
  extendedCard: {},
};

const known = new Map<string, readonly RequestMember[]>();

/**
 * Lists the members of the parameters of an operation, as its codec defines them: the codec writes a request with all
 * members, and reads it again without each member and with a wrong value of it.
 */
export function listRequestMembers(target: OperationVariant): readonly RequestMember[] {
  const key = `${target.version} ${target.transport} ${target.operation}`;
  let members = known.get(key);
  if (!members) known.set(key, (members = new MemberProbe(target).members()));
  return members;
}

type Path = readonly (string | number)[];

interface MemberError {
  /** `other`: a member of another name, because codecs name some members as the newest version does. */
  readonly place: 'member' | 'container' | 'content' | 'other';
  readonly rule: string;
}

class MemberProbe {
  readonly #codec: RequestCodec<RequestOf[Operation]> | undefined;
  readonly #example: unknown;
  readonly #found = new Map<string, RequestMember>();
  readonly #hasTenant: boolean;

  constructor(target: OperationVariant) {
    const codec = definesOperation(target) ? dialectOfVariant(target)?.requests[target.operation] : undefined;
    this.#codec = codec;
    this.#example = this.#write(examples[target.operation]);
    this.#hasTenant = target.version === '1.0' && target.transport !== 'HTTP+JSON';
  }

  members(): readonly RequestMember[] {
    if (isJsonObject(this.#example)) this.#visit(this.#example, []);
    // The transports add it; codecs do not know it.
    if (this.#hasTenant && this.#codec)
      this.#found.set('tenant', { path: 'tenant', type: 'string', isRequired: false, example: 'tenant-1' });
    return [...this.#found.values()];
  }

  #visit(value: unknown, at: Path): void {
    if (Array.isArray(value)) for (const [index, each] of value.entries()) this.#visit(each, [...at, index]);
    else if (isJsonObject(value))
      for (const name of Object.keys(value)) this.#add(value[name], [...at, name]);
  }

  #add(example: unknown, at: Path): void {
    const path = formatMemberPath(at);
    const former = this.#found.get(path);
    const isFree = isJsonObject(example) && this.#keepsUnknown(at);
    if (!former)
      this.#found.set(path, { path, type: this.#typeOf(example, at, isFree), ...this.#demands(at), example });
    if (!isFree) this.#visit(example, at);
  }

  #typeOf(example: unknown, at: Path, isFree: boolean): string {
    if (Array.isArray(example)) return typeof example[0] === 'string' ? 'list of strings' : 'list';
    if (!isFree) return typeof example;
    return this.#error(at, 7) === undefined ? 'any JSON' : 'any object';
  }

  /** Reads the example without the member, and with a wrong value. */
  #demands(at: Path): { isRequired: boolean; rule?: string } {
    const missing = this.#error(at, undefined);
    const wrong = [{}, 'x', -1.5].map((value) => this.#error(at, value));
    const rule =
      wrong.find((each) => each?.place === 'member')?.rule ??
      wrong.find((each) => each?.place === 'other')?.rule ??
      // An error about the object that contains it: it is one of several alternatives.
      missing?.rule;
    const isRequired = missing !== undefined && missing.place !== 'container' && !this.#isAlternative(at);
    return { isRequired, ...(rule !== undefined && { rule }) };
  }

  #error(at: Path, value: unknown): MemberError | undefined {
    try {
      this.#codec?.read(replaceAt(this.#example, at, value), strictMode);
      return undefined;
    } catch (thrown) {
      const [violation] = A2AError.from(thrown).violations;
      const field = violation?.field.replaceAll(/\[\d+\]/g, '[]') ?? '';
      const path = formatMemberPath(at);
      const isContainer = at.some((_, depth) => field === formatMemberPath(at.slice(0, depth)));
      const place = field === path ? 'member' : isContainer ? 'container' : 'other';
      return {
        place: place === 'other' && field.startsWith(path) ? 'content' : place,
        rule: violation?.description ?? '',
      };
    }
  }

  /** True if another item of the same list is valid without the member. */
  #isAlternative(at: Path): boolean {
    const index = at.findLastIndex((each) => typeof each === 'number');
    if (index === -1) return false;
    const items = valueAt(this.#example, at.slice(0, index)) as unknown[];
    return items.some((item) => valueAt(item, at.slice(index + 1)) === undefined);
  }

  /** True if the codec keeps members that it does not know: the object is free-form. */
  #keepsUnknown(at: Path): boolean {
    try {
      const probe = replaceAt(this.#example, [...at, 'unknownMember'], 1);
      return JSON.stringify(this.#write(this.#codec?.read(probe, strictMode))).includes('"unknownMember"');
    } catch {
      return false;
    }
  }

  #write(request: unknown): unknown {
    const wire = this.#codec?.write(request as RequestOf[Operation]);
    return wire === undefined ? undefined : (JSON.parse(JSON.stringify(wire)) as unknown);
  }
}

/** Formats a path without the positions in lists: `message.parts[].text`. */
export function formatMemberPath(at: Path): string {
  return at.reduce<string>(
    (path, each) => (typeof each === 'number' ? `${path}[]` : path === '' ? each : `${path}.${each}`),
    '',
  );
}

function valueAt(value: unknown, at: Path): unknown {
  return at.reduce<unknown>((each, step) => (each as JsonObject | undefined)?.[step], value);
}

/** Copies a value with another value at a path; undefined removes the member. */
function replaceAt(value: unknown, at: Path, replacement: unknown): unknown {
  const copy = copyJson(value);
  const parent = valueAt(copy, at.slice(0, -1)) as JsonObject;
  const last = String(at.at(-1));
  if (replacement === undefined) delete parent[last];
  else parent[last] = replacement;
  return copy;
}
