import type { MessagePort } from 'node:worker_threads';

/** A hook that Node calls for every import; `next` is synchronous or not, depending on how the hook was registered. */
type ResolveHook = (
  specifier: string,
  context: { readonly parentURL?: string | undefined },
  next: (specifier: string, context: object) => unknown,
) => unknown;

/** Creates a hook that reports the URL of every import, also of files that do not exist yet. */
export function reportingHook(report: (url: string) => void): ResolveHook {
  return (specifier, context, next) => {
    const onResolved = (result: unknown): unknown => {
      report((result as { readonly url: string }).url);
      return result;
    };
    const onError = (error: unknown): never => {
      if (/^\.{0,2}\//.test(specifier) && context.parentURL?.startsWith('file:'))
        report(new URL(specifier, context.parentURL).href);
      throw error;
    };
    try {
      const result = next(specifier, context);
      return result instanceof Promise ? result.then(onResolved, onError) : onResolved(result);
    } catch (error) {
      return onError(error);
    }
  };
}

let port: MessagePort | undefined;

/** Receives the port for reports, if Node runs the hooks in a thread of their own (`module.register`). */
export function initialize(data: { readonly port: MessagePort }): void {
  port = data.port;
}

/** The hook of that thread. */
export const resolve: ResolveHook = reportingHook((url) => port?.postMessage(url));
