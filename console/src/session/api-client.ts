import { accessState } from './access-state.ts';
import { token } from './token.ts';

/** An answer of the server that is no success; its message is for people. */
export class ApiError extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

/** How to call. */
export interface CallOptions {
  method?: 'GET' | 'POST' | 'DELETE';
  /** Becomes JSON. */
  body?: unknown;
  /** Goes as it is, in place of a body. */
  text?: string;
  signal?: AbortSignal;
}

/** Asks the server; `path` is below `api/`, such as `agents`. */
export async function requestApi(
  path: string,
  { method = 'GET', body, text, signal }: CallOptions = {},
): Promise<Response> {
  const response = await fetch(`api/${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined ? (text ?? null) : JSON.stringify(body),
    signal: signal ?? null,
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    accessState.value = 'gone';
    throw new ApiError(0, 'NO_ANSWER', 'The server of the console does not answer. Is it still running?');
  });
  if (accessState.value === 'gone') accessState.value = 'open';
  if (response.ok) return response;
  // An agent that wants to know who calls is refused with the same status: only `about` is the console's own.
  if (response.status === 401) {
    if (path === 'about') accessState.value = 'denied';
    else await requestApi('about').catch(() => undefined);
  }
  const told = (await response.json().catch(() => undefined)) as
    | { error?: { reason?: string; message?: string } }
    | undefined;
  throw new ApiError(
    response.status,
    told?.error?.reason ?? `HTTP_${response.status}`,
    told?.error?.message ?? `The console answered with ${response.status}.`,
  );
}

/** Asks for one JSON document. */
export async function requestJson<Answer>(path: string, options?: CallOptions): Promise<Answer> {
  const response = await requestApi(path, options);
  return (response.status === 204 ? undefined : await response.json()) as Answer;
}

/** Asks for a stream and gives each document as it comes; leaving the loop ends it. */
export async function* streamJson<Item>(path: string, options?: CallOptions): AsyncGenerator<Item> {
  const { body } = await requestApi(path, options);
  if (!body) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += value;
      const frames = rest.split('\n\n');
      rest = frames.pop() ?? '';
      for (const frame of frames) if (frame.startsWith('data: ')) yield JSON.parse(frame.slice(6)) as Item;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
