import { rpcMethodName } from '../../../../../src/dialects/dialect.ts';
import {
  dialectOfVariant,
  readOperationRequest,
} from '../../../../../src/dialects/http/operation-request.ts';
import { formatMemberPath, listRequestMembers } from '../../../../../src/dialects/http/request-members.ts';
import { asJsonObject, isJsonObject } from '../../../../../src/primitives/json.ts';
import { redactedPlaceholder } from '../../../../../src/primitives/redaction/redaction.ts';
import { A2AError } from '../../../../../src/protocol/errors.ts';
import {
  type LocatedJson,
  locateJson,
  parseFieldPath,
  positionAt,
  type TextPosition,
} from './json-positions.ts';
import { headerOf, type OperationModel, paramsOfBody, type RequestDraft } from './request-draft.ts';
import { isUrl } from '../../../../../src/primitives/web/parse-url.ts';

/** Something in a draft that an agent may reject. The draft can be sent all the same. */
export interface DraftProblem {
  readonly level: 'error' | 'warning';
  readonly message: string;
  /** Place in the body. */
  readonly position?: TextPosition;
}

/** Result of a check. */
export interface CheckedDraft {
  readonly problems: readonly DraftProblem[];
  /** The request of the model; undefined if the draft is invalid. */
  readonly model?: OperationModel;
}

type Path = readonly (string | number)[];

/** Bodies above this length are only parsed. */
const maxLocated = 512 * 1_024;

const maxProblems = 50;

/** Checks a draft with the codecs of its version. */
export function checkDraft(draft: RequestDraft, { canFillIn }: { canFillIn: boolean }): CheckedDraft {
  const problems = headerProblems(draft, canFillIn);
  if (!isUrl(draft.url))
    return { problems: [{ level: 'error', message: 'The URL is not valid' }, ...problems] };
  const hasBody = draft.method === 'POST';
  const located = hasBody ? locateBody(draft.body) : undefined;
  if (located && 'message' in located)
    return {
      problems: [
        {
          level: 'error',
          message: `The body is not JSON: ${located.message}`,
          position: positionAt(draft.body, located.offset),
        },
        ...problems,
      ],
    };
  const base = draft.transport === 'JSONRPC' ? ['params'] : [];
  const place = (path: Path): { position?: TextPosition } => findPlace(draft.body, located, path);
  if (draft.transport === 'JSONRPC') problems.unshift(...envelopeProblems(draft, located?.value, place));
  let model: OperationModel | undefined;
  try {
    model = readOperationRequest(draft, { ...draft, body: located?.value });
  } catch (thrown) {
    const { message, violations } = A2AError.from(thrown);
    const path = [...base, ...parseFieldPath(violations[0]?.field ?? '')];
    problems.unshift({ level: 'error', message: message.trim(), ...place(path) });
  }
  if (located)
    for (const path of unknownMembers(draft, paramsOfBody(draft, located.value)))
      problems.push({
        level: 'warning',
        message: `${formatMemberPath(path)} is not a member of ${draft.operation} in ${draft.version}`,
        ...place([...base, ...path]),
      });
  return { problems: problems.slice(0, maxProblems), ...(model && { model }) };
}

function locateBody(body: string): LocatedJson {
  if (body.length <= maxLocated) return locateJson(body);
  try {
    return { value: JSON.parse(body), offsetOf: () => undefined };
  } catch (thrown) {
    return { message: thrown instanceof Error ? thrown.message : 'Invalid JSON', offset: 0 };
  }
}

/** Returns the position of a path, or of the nearest object that contains it. */
function findPlace(body: string, located: LocatedJson | undefined, path: Path): { position?: TextPosition } {
  if (!located || 'message' in located) return {};
  for (let length = path.length; length >= 0; length--) {
    const offset = located.offsetOf(path.slice(0, length));
    if (offset !== undefined) return { position: positionAt(body, offset) };
  }
  return {};
}

function envelopeProblems(
  draft: RequestDraft,
  body: unknown,
  place: (path: Path) => { position?: TextPosition },
): DraftProblem[] {
  const envelope = asJsonObject(body);
  if (!envelope) return [{ level: 'error', message: 'A JSON-RPC request must be an object', ...place([]) }];
  const problems: DraftProblem[] = [];
  const add = (level: DraftProblem['level'], message: string, name: string): void => {
    problems.push({ level, message, ...place([name]) });
  };
  if (envelope.jsonrpc !== '2.0') add('error', 'jsonrpc must be "2.0"', 'jsonrpc');
  if (!Object.hasOwn(envelope, 'id')) add('warning', 'id is missing: a notification has no response', 'id');
  else if (envelope.id !== null && typeof envelope.id !== 'string' && typeof envelope.id !== 'number')
    add('error', 'id must be a string or a number', 'id');
  const dialect = dialectOfVariant(draft);
  const method = dialect && rpcMethodName(dialect, draft.operation);
  const isKnown =
    typeof envelope.method === 'string' && dialect?.methods.get(envelope.method) === draft.operation;
  if (!isKnown)
    add(
      'error',
      `method must be ${method ?? 'a method'} for ${draft.operation} in ${draft.version}`,
      'method',
    );
  return problems;
}

function headerProblems(draft: RequestDraft, canFillIn: boolean): DraftProblem[] {
  const problems: DraftProblem[] = [];
  const version = headerOf(draft, 'a2a-version');
  if (draft.version === '1.0' && version === '')
    problems.push({ level: 'warning', message: 'The header A2A-Version is missing, which means 0.3' });
  else if (version !== '' && !`${version}.`.startsWith(`${draft.version}.`))
    problems.push({ level: 'warning', message: `The header A2A-Version is not ${draft.version}` });
  for (const { name, value } of draft.headers) {
    if (!value.includes(redactedPlaceholder) || (canFillIn && draft.hasCredentials)) continue;
    problems.push({
      level: 'warning',
      message: `The value of ${name} is redacted and is not sent. Enter it, or add credentials to the agent`,
    });
  }
  return problems;
}

/** Lists members that the codec does not know. */
function unknownMembers(draft: RequestDraft, params: unknown): Path[] {
  const members = new Map(listRequestMembers(draft).map((each) => [each.path, each]));
  const found: Path[] = [];
  const visit = (value: unknown, at: Path): void => {
    if (found.length >= maxProblems) return;
    if (Array.isArray(value)) for (const [index, each] of value.entries()) visit(each, [...at, index]);
    if (!isJsonObject(value)) return;
    for (const [name, each] of Object.entries(value)) {
      const path = [...at, name];
      const member = members.get(formatMemberPath(path));
      if (!member) found.push(path);
      else if (!member.type.startsWith('any ')) visit(each, path);
    }
  };
  if (members.size > 0) visit(params, []);
  return found;
}
