import { loadLibrary } from '../../protocol/optional/load-library.ts';

/** Content of a message in the format of the Gemini API. */
export interface AdkContent {
  readonly role?: string | undefined;
  readonly parts?: readonly AdkPart[] | undefined;
}

/** A part of a content. */
interface AdkPart {
  readonly text?: string | undefined;
  readonly thought?: boolean | undefined;
  readonly inlineData?:
    | { readonly data?: string | undefined; readonly mimeType?: string | undefined }
    | undefined;
  readonly functionCall?:
    | { readonly id?: string | undefined; readonly name?: string | undefined; readonly args?: unknown }
    | undefined;
}

/** The fields of an event of the ADK that are read. */
export interface AdkEvent {
  readonly content?: AdkContent | undefined;
  readonly partial?: boolean | undefined;
  readonly errorCode?: string | undefined;
  readonly errorMessage?: string | undefined;
  readonly finishReason?: string | undefined;
  readonly usageMetadata?:
    | {
        readonly promptTokenCount?: number | undefined;
        readonly candidatesTokenCount?: number | undefined;
        readonly totalTokenCount?: number | undefined;
      }
    | undefined;
}

/** A session of the ADK. */
interface AdkSession {
  readonly id: string;
}

/** A runner of the ADK. */
export interface AdkRunner {
  readonly appName: string;
  readonly sessionService: {
    createSession(request: { appName: string; userId: string }): Promise<AdkSession>;
    appendEvent(request: { session: AdkSession; event: unknown }): Promise<unknown>;
    deleteSession(request: { appName: string; userId: string; sessionId: string }): Promise<void>;
  };
  runAsync(params: {
    userId: string;
    sessionId: string;
    newMessage: AdkContent;
    runConfig: { streamingMode: string };
    abortSignal: AbortSignal;
  }): AsyncIterable<AdkEvent>;
}

/** The parts of the package `@google/adk` that are used. */
export interface AdkLibrary {
  readonly InMemoryRunner: new (params: { agent: unknown; appName: string }) => AdkRunner;
  readonly BaseTool: abstract new (params: {
    name: string;
    description: string;
  }) => {
    readonly name: string;
    readonly description: string;
  };
  createEvent(params: { author: string; content: AdkContent; invocationId: string }): unknown;
}

/** Loads the ADK. @throws A2AError `UNAVAILABLE` if it is not installed */
export function loadAdk(what: string): Promise<AdkLibrary> {
  return loadLibrary(
    what,
    '@google/adk',
    // @ts-ignore -- not installed in this repository: it has hundreds of dependencies
    () => import('@google/adk') as Promise<AdkLibrary>,
  );
}
