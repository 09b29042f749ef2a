import type { IncomingMessage, ServerResponse } from 'node:http';
import { DocumentError } from '../../documents/diagnostic.ts';
import { A2AError, errorTable } from '../../protocol/errors.ts';
import type { CapturedCall, JournalFilter } from '../journal/journal-entry.ts';
import type { Journal } from '../journal/journal.ts';
import { type AdminAccess, adminAccessError } from './admin-access.ts';
import { readBody } from './read-body.ts';

/** What the admin API can do to a test agent. */
export interface AdminTarget {
  readonly journal: Journal;
  readonly startedAt: number;
  /** The scripts that are in force, the newest first. */
  rules(): readonly { readonly file: string; readonly text: string; readonly rules: readonly unknown[] }[];
  /** Replaces all scripts, or puts one before them. */
  load(text: string, file: string, mode: 'replace' | 'add'): void;
  clearRules(): void;
  /** A rule, if there is one of that name. */
  rule(name: string): unknown;
  /** Puts a rule in the place of the one of that name, or adds it before another or as the last. */
  putRule(name: string, text: string, before: string | undefined): void;
  /** @returns false when there is none of that name. */
  removeRule(name: string): boolean;
  /** Forgets everything that happened and everything that waits, though not the scripts. */
  reset(): void;
  prime(responses: unknown): void;
  primed(): number;
  readonly clock: {
    now(): number;
    readonly isVirtual: boolean;
    isAuto(): boolean;
    advance(milliseconds: number): Promise<void>;
    setAuto(isAuto: boolean): void;
  };
}

/** The answer of one route. */
interface Answer {
  readonly status?: number;
  readonly body: unknown;
}

type Route = (request: {
  body: string;
  query: URLSearchParams;
  /** The last part of the path, where it names something; else empty. */
  id: string;
}) => Promise<Answer> | Answer;

/**
 * The admin API of a test agent, below `/__admin`. Answers are JSON; an error is `{ "error": { "message", "hint"? } }`,
 * and a script that is wrong also has `complaints`, each with `line`, `column`, `path` and `message`.
 *
 * | route | takes | gives |
 * |---|---|---|
 * | `GET /health` | | `{ status, uptime, requests, primed }` |
 * | `GET /rules` | | `{ scripts: [{ file, text, rules: [{ name, matches, rule }] }] }` |
 * | `PUT /rules` | a script as text, or `{ script, file? }` | the same; it replaces all scripts |
 * | `POST /rules` | the same | the same; it is put before the others |
 * | `DELETE /rules` | | `{ scripts: [] }` |
 * | `GET /rules/{name}` | | `{ name, matches, rule }` |
 * | `PUT /rules/{name}` | a rule as text, `?before={name}` | the same; it replaces the one of that name, or is added |
 * | `DELETE /rules/{name}` | | `{ scripts }` |
 * | `GET /journal` | `?operation&method&path&taskId&contextId&messageId&unmatched&status&limit` | `{ entries, total }` |
 * | `GET /journal/{id}` | | one entry |
 * | `DELETE /journal` | | `{ entries: [], total: 0 }` |
 * | `POST /reset` | | `{ status: "ok" }` |
 * | `POST /prime` | a list of events, or `{ responses }` | `{ primed }` |
 * | `GET /clock` | | `{ now, time, isVirtual, isAuto }` |
 * | `POST /clock` | `{ advance?: ms, auto?: boolean }` | the same |
 */
export class AdminApi {
  readonly #agent: AdminTarget;
  readonly #access: AdminAccess;
  readonly #routes: ReadonlyMap<string, { readonly [method: string]: Route }>;

  constructor(agent: AdminTarget, access: AdminAccess) {
    this.#agent = agent;
    this.#access = access;
    this.#routes = new Map<string, { readonly [method: string]: Route }>([
      ['/health', { GET: () => ({ body: this.#health() }) }],
      [
        '/rules',
        {
          GET: () => ({ body: { scripts: agent.rules() } }),
          PUT: ({ body }) => this.#load(body, 'replace'),
          POST: ({ body }) => this.#load(body, 'add'),
          DELETE: () => {
            agent.clearRules();
            return { body: { scripts: [] } };
          },
        },
      ],
      [
        '/rules/*',
        {
          GET: ({ id }) => this.#rule(id),
          PUT: ({ id, body, query }) => {
            agent.putRule(id, body, query.get('before') ?? undefined);
            return this.#rule(id);
          },
          DELETE: ({ id }) => {
            if (!agent.removeRule(id)) throw noRule(id);
            return { body: { scripts: agent.rules() } };
          },
        },
      ],
      [
        '/journal',
        {
          GET: ({ query }) => this.#entries(query),
          DELETE: () => {
            agent.journal.clear();
            return { body: { entries: [], total: 0 } };
          },
        },
      ],
      ['/journal/*', { GET: ({ id }) => this.#entry(id) }],
      [
        '/reset',
        {
          POST: () => {
            agent.reset();
            return { body: { status: 'ok' } };
          },
        },
      ],
      ['/prime', { POST: ({ body }) => this.#prime(body) }],
      ['/clock', { GET: () => ({ body: this.#time() }), POST: ({ body }) => this.#moveClock(body) }],
    ]);
  }

  /** Answers one request. */
  readonly listener = (request: IncomingMessage, response: ServerResponse): void => {
    void this.#answer(request).then(({ status = 200, body }) => {
      if (response.destroyed) return;
      const text = `${JSON.stringify(body)}\n`;
      response.writeHead(status, {
        'Content-Type': 'application/json',
        'Cache-Control': 'no-store',
        'Content-Length': Buffer.byteLength(text),
        // A body that was refused is not read to its end.
        ...(!request.complete && { Connection: 'close' }),
      });
      response.end(text);
    });
  };

  async #answer(request: IncomingMessage): Promise<Answer> {
    try {
      const refusal = adminAccessError(request, this.#access);
      if (refusal !== undefined)
        throw new A2AError('PERMISSION_DENIED', refusal.message, { hint: refusal.hint });
      const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://admin');
      const local = pathname.slice('/__admin'.length) || '/health';
      const [, list, id = ''] = /^(\/journal|\/rules)\/([^/]+)$/.exec(local) ?? [];
      const route = this.#routes.get(list === undefined ? local : `${list}/*`);
      if (!route)
        throw new A2AError('NOT_FOUND', `There is nothing at ${pathname.slice(0, 200)}`, {
          hint: 'Try /__admin/health, rules, journal, reset, prime or clock.',
        });
      const handle = route[request.method ?? 'GET'];
      if (!handle)
        throw new A2AError('METHOD_NOT_ALLOWED', `This path takes ${Object.keys(route).join(', ')}`);
      return await handle({ body: await readBody(request), query, id: decoded(id) });
    } catch (thrown) {
      return failure(thrown);
    }
  }

  #health(): unknown {
    const { clock, journal, startedAt } = this.#agent;
    const primed = this.#agent.primed();
    return { status: 'ok', uptime: clock.now() - startedAt, requests: journal.entries().length, primed };
  }

  #load(body: string, mode: 'replace' | 'add'): Answer {
    const { script, file } = scriptIn(body);
    this.#agent.load(script, file, mode);
    return { body: { scripts: this.#agent.rules() } };
  }

  #entries(query: URLSearchParams): Answer {
    const entries = this.#agent.journal.entries(filterOf(query));
    const limit = query.has('limit') ? numberOf(query.get('limit'), 'limit') : 1_000;
    return { body: { entries: limit === 0 ? [] : entries.slice(-limit), total: entries.length } };
  }

  #rule(name: string): Answer {
    const body = this.#agent.rule(name);
    if (body === undefined) throw noRule(name);
    return { body };
  }

  #entry(id: string): Answer {
    const entry = this.#agent.journal.entry(Number(id));
    if (entry) return { body: entry };
    throw new A2AError('NOT_FOUND', `There is no entry ${id.slice(0, 200)}`, {
      hint: 'GET /__admin/journal lists those there are.',
    });
  }

  #prime(body: string): Answer {
    const given = json(body);
    this.#agent.prime(Array.isArray(given) ? given : (given as { responses?: unknown } | null)?.responses);
    return { body: { primed: this.#agent.primed() } };
  }

  #time(): unknown {
    const { clock } = this.#agent;
    const now = clock.now();
    return { now, time: new Date(now).toISOString(), isVirtual: clock.isVirtual, isAuto: clock.isAuto() };
  }

  async #moveClock(body: string): Promise<Answer> {
    const { advance, auto } = (json(body) ?? {}) as { advance?: unknown; auto?: unknown };
    const { clock } = this.#agent;
    if (!clock.isVirtual)
      throw new A2AError('UNSUPPORTED_OPERATION', 'The clock is that of the machine', {
        hint: 'Start the test agent with a virtual clock: --clock virtual, or clock: virtual in its script.',
      });
    if (typeof auto === 'boolean') clock.setAuto(auto);
    if (advance !== undefined) await clock.advance(numberOf(advance, 'advance'));
    return { body: this.#time() };
  }
}

function noRule(name: string): A2AError {
  return new A2AError('NOT_FOUND', `There is no rule ${name.slice(0, 200)}`, {
    hint: 'GET /__admin/rules lists those there are.',
  });
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (cause) {
    throw new A2AError('INVALID_PARAMS', 'The path has an escape that is no text', { cause });
  }
}

function filterOf(query: URLSearchParams): JournalFilter {
  const text = (name: string): string | undefined => query.get(name) ?? undefined;
  const unmatched = text('unmatched');
  const status = text('status');
  return {
    operation: text('operation') as CapturedCall['operation'] | undefined,
    method: text('method')?.toUpperCase(),
    path: text('path'),
    taskId: text('taskId'),
    contextId: text('contextId'),
    messageId: text('messageId'),
    unmatched: unmatched === undefined ? undefined : unmatched !== 'false',
    status: status === undefined ? undefined : numberOf(status, 'status'),
  };
}

function numberOf(value: unknown, name: string): number {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  if (typeof number === 'number' && Number.isFinite(number) && number >= 0) return number;
  throw new A2AError('INVALID_PARAMS', `${name} must be a number that is not negative`);
}

/** A script by itself, or in JSON with the name of its file. */
function scriptIn(body: string): { script: string; file: string } {
  const file = 'rules.yaml';
  if (!body.trimStart().startsWith('{')) return { script: body, file };
  let given: { script?: unknown; file?: unknown };
  try {
    given = JSON.parse(body) as typeof given;
  } catch {
    // YAML may begin with a brace as well.
    return { script: body, file };
  }
  if (typeof given.script !== 'string') return { script: body, file };
  return { script: given.script, file: typeof given.file === 'string' ? given.file : file };
}

function json(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new A2AError('PARSE_ERROR', `The body is not JSON: ${(cause as Error).message}`, { cause });
  }
}

function failure(thrown: unknown): Answer {
  if (thrown instanceof DocumentError) {
    const { message, diagnostics: complaints } = thrown;
    return {
      status: 400,
      body: { error: { message, complaints, hint: 'The rules before are still in force.' } },
    };
  }
  const { reason, message, hint } = A2AError.from(thrown);
  return {
    status: errorTable[reason].http,
    body: { error: { message, ...(hint !== undefined && { hint }) } },
  };
}
