import type { IncomingMessage, ServerResponse } from 'node:http';
import { DocumentError } from '../../documents/diagnostic.ts';
import { readBody } from '../../primitives/node/read-body.ts';
import { A2AError, errorTable } from '../../protocol/errors.ts';
import type { CapturedCall, JournalFilter } from '../journal/journal-entry.ts';
import type { Journal } from '../journal/journal.ts';
import { type AdminAccess, adminAccessError } from './admin-access.ts';
import { parseBoundedJson } from '../../primitives/json.ts';

/** Maximum size of a request body: 16 MiB. */
const maxBytes = 16 * 1_024 * 1_024;

/** The operations of a test agent that the admin API uses. */
export interface AdminTarget {
  readonly journal: Journal;
  readonly startedAt: number;
  /** Returns the loaded scripts, the newest first. */
  rules(): readonly { readonly file: string; readonly text: string; readonly rules: readonly unknown[] }[];
  /** Replaces all scripts, or adds one before them. */
  load(text: string, file: string, mode: 'replace' | 'add'): void;
  clearRules(): void;
  /** Returns a rule, or undefined if the name is unknown. */
  rule(name: string): unknown;
  /** Replaces the rule of that name, or adds it before another rule or at the end. */
  putRule(name: string, text: string, before: string | undefined): void;
  /** @returns false if the name is unknown. */
  removeRule(name: string): boolean;
  /** Resets all state except the scripts. */
  reset(): void;
  prime(responses: unknown): void;
  primedCount(): number;
  readonly clock: {
    now(): number;
    readonly isVirtual: boolean;
    isAuto(): boolean;
    advance(milliseconds: number): Promise<void>;
    setAuto(isAuto: boolean): void;
  };
}

/** Response of one route. */
interface AdminResponse {
  readonly status?: number;
  readonly body: unknown;
}

type Route = (request: {
  body: string;
  query: URLSearchParams;
  /** The decoded last path segment of `/rules/{name}` and `/journal/{id}`; else empty. */
  id: string;
}) => Promise<AdminResponse> | AdminResponse;

/**
 * HTTP admin API of a test agent at `/__admin`. Responses are JSON. An error is `{ "error": { "message", "hint"? } }`;
 * the error of an invalid script also has `diagnostics`, each with `line`, `column`, `path` and `message`.
 *
 * | route | request | response |
 * |---|---|---|
 * | `GET /health` | | `{ status, uptime, requests, primed }` |
 * | `GET /rules` | | `{ scripts: [{ file, text, rules: [{ name, matches, rule }] }] }` |
 * | `PUT /rules` | a script as text, or `{ script, file? }` | the same; replaces all scripts |
 * | `POST /rules` | the same | the same; evaluated before the others |
 * | `DELETE /rules` | | `{ scripts: [] }` |
 * | `GET /rules/{name}` | | `{ name, matches, rule }` |
 * | `PUT /rules/{name}` | a rule as text, `?before={name}` | the same; replaces the rule of that name, or adds it |
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
            if (!agent.removeRule(id)) throw ruleNotFound(id);
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
      ['/clock', { GET: () => ({ body: this.#clockState() }), POST: ({ body }) => this.#updateClock(body) }],
    ]);
  }

  readonly listener = (request: IncomingMessage, response: ServerResponse): void => {
    void this.#handle(request).then(({ status = 200, body }) => {
      if (response.destroyed) return;
      const text = `${JSON.stringify(body)}\n`;
      response.writeHead(status, {
        'Content-Type': 'application/json',
        'Cache-Control': 'no-store',
        'Content-Length': Buffer.byteLength(text),
        // The body of a rejected request may not be read completely.
        ...(!request.complete && { Connection: 'close' }),
      });
      response.end(text);
    });
  };

  async #handle(request: IncomingMessage): Promise<AdminResponse> {
    try {
      const denied = adminAccessError(request, this.#access);
      if (denied !== undefined)
        throw new A2AError('PERMISSION_DENIED', denied.message, { hint: denied.hint });
      const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://admin');
      const local = pathname.slice('/__admin'.length) || '/health';
      const [, list, id = ''] = /^(\/journal|\/rules)\/([^/]+)$/.exec(local) ?? [];
      const route = this.#routes.get(list === undefined ? local : `${list}/*`);
      if (!route)
        throw new A2AError('NOT_FOUND', `Not found: ${pathname.slice(0, 200)}`, {
          hint: 'Use /__admin/health, rules, journal, reset, prime or clock.',
        });
      const handle = route[request.method ?? 'GET'];
      if (!handle)
        throw new A2AError('METHOD_NOT_ALLOWED', `Allowed methods: ${Object.keys(route).join(', ')}`);
      return await handle({
        body: (await readBody(request, maxBytes, bodyTooLarge)).toString('utf8'),
        query,
        id: decodePathSegment(id),
      });
    } catch (thrown) {
      return errorResponse(thrown);
    }
  }

  #health(): unknown {
    const { clock, journal, startedAt } = this.#agent;
    const primed = this.#agent.primedCount();
    return { status: 'ok', uptime: clock.now() - startedAt, requests: journal.entries().length, primed };
  }

  #load(body: string, mode: 'replace' | 'add'): AdminResponse {
    const { script, file } = parseScriptBody(body);
    this.#agent.load(script, file, mode);
    return { body: { scripts: this.#agent.rules() } };
  }

  #entries(query: URLSearchParams): AdminResponse {
    const entries = this.#agent.journal.entries(parseFilter(query));
    const limit = query.has('limit') ? parseNonNegative(query.get('limit'), 'limit') : 1_000;
    return { body: { entries: limit === 0 ? [] : entries.slice(-limit), total: entries.length } };
  }

  #rule(name: string): AdminResponse {
    const body = this.#agent.rule(name);
    if (body === undefined) throw ruleNotFound(name);
    return { body };
  }

  #entry(id: string): AdminResponse {
    const entry = this.#agent.journal.entry(Number(id));
    if (entry) return { body: entry };
    throw new A2AError('NOT_FOUND', `Unknown journal entry: ${id.slice(0, 200)}`, {
      hint: 'GET /__admin/journal lists all entries.',
    });
  }

  #prime(body: string): AdminResponse {
    const input = parseJsonBody(body);
    this.#agent.prime(Array.isArray(input) ? input : (input as { responses?: unknown } | null)?.responses);
    return { body: { primed: this.#agent.primedCount() } };
  }

  #clockState(): unknown {
    const { clock } = this.#agent;
    const now = clock.now();
    return { now, time: new Date(now).toISOString(), isVirtual: clock.isVirtual, isAuto: clock.isAuto() };
  }

  async #updateClock(body: string): Promise<AdminResponse> {
    const { advance, auto } = (parseJsonBody(body) ?? {}) as { advance?: unknown; auto?: unknown };
    const { clock } = this.#agent;
    if (!clock.isVirtual)
      throw new A2AError('UNSUPPORTED_OPERATION', 'The test agent uses the system clock', {
        hint: 'Start the test agent with a virtual clock: --clock virtual, or clock: virtual in its script.',
      });
    if (typeof auto === 'boolean') clock.setAuto(auto);
    if (advance !== undefined) await clock.advance(parseNonNegative(advance, 'advance'));
    return { body: this.#clockState() };
  }
}

function bodyTooLarge(): A2AError {
  return new A2AError('PAYLOAD_TOO_LARGE', `The request body must not exceed ${maxBytes} bytes`);
}

function ruleNotFound(name: string): A2AError {
  return new A2AError('NOT_FOUND', `Unknown rule: ${name.slice(0, 200)}`, {
    hint: 'GET /__admin/rules lists all rules.',
  });
}

function decodePathSegment(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (cause) {
    throw new A2AError('INVALID_PARAMS', 'The path contains an invalid percent-encoding', { cause });
  }
}

function parseFilter(query: URLSearchParams): JournalFilter {
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
    status: status === undefined ? undefined : parseNonNegative(status, 'status'),
  };
}

function parseNonNegative(value: unknown, name: string): number {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  if (typeof number === 'number' && Number.isFinite(number) && number >= 0) return number;
  throw new A2AError('INVALID_PARAMS', `${name} must be a non-negative number`);
}

/** Parses a script: plain YAML, or JSON with `script` and `file`. */
function parseScriptBody(body: string): { script: string; file: string } {
  const file = 'rules.yaml';
  if (!body.trimStart().startsWith('{')) return { script: body, file };
  let input: { script?: unknown; file?: unknown };
  try {
    input = parseBoundedJson(body) as typeof input;
  } catch {
    // YAML may start with a brace as well.
    return { script: body, file };
  }
  if (typeof input.script !== 'string') return { script: body, file };
  return { script: input.script, file: typeof input.file === 'string' ? input.file : file };
}

function parseJsonBody(text: string): unknown {
  if (text === '') return undefined;
  try {
    return parseBoundedJson(text);
  } catch (cause) {
    throw new A2AError('PARSE_ERROR', `The body is not JSON: ${(cause as Error).message}`, { cause });
  }
}

function errorResponse(thrown: unknown): AdminResponse {
  if (thrown instanceof DocumentError) {
    const { message, diagnostics } = thrown;
    return {
      status: 400,
      body: { error: { message, diagnostics, hint: 'The previous rules are still active.' } },
    };
  }
  const { reason, message, hint } = A2AError.from(thrown);
  return {
    status: errorTable[reason].http,
    body: { error: { message, ...(hint !== undefined && { hint }) } },
  };
}
