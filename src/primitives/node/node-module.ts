/** Modules of Node by name. */
interface NodeModules {
  'node:buffer': typeof import('node:buffer');
  'node:crypto': typeof import('node:crypto');
  'node:dns/promises': typeof import('node:dns/promises');
  'node:http': typeof import('node:http');
  'node:https': typeof import('node:https');
  'node:net': typeof import('node:net');
  'node:tls': typeof import('node:tls');
}

/**
 * Returns a module of Node when it is needed. Unlike an import, it can be part of a bundle for another runtime.
 *
 * @throws Error if the runtime does not have the module.
 */
export function nodeModule<Name extends keyof NodeModules>(name: Name): NodeModules[Name] {
  const found = globalThis.process?.getBuiltinModule?.(name as string) as NodeModules[Name] | undefined;
  if (found) return found;
  throw new Error(
    `This runtime has no ${name}; Cloudflare Workers need the compatibility flag nodejs_compat`,
  );
}
