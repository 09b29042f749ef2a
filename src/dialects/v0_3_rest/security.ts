import type { SecurityScheme } from '../../protocol/card.ts';
import type { SecurityWriter } from '../v0_3/card.ts';
import { splitFlows, splitRequirements, writeRequirements, writeSecurityScheme } from '../v1_0/security.ts';

/** Writes security in the wrapped format of the 0.3 and 1.0 protocol buffers: one flow per OAuth 2 scheme. */
export function wrappedSecurityWriter(schemes: { [name: string]: SecurityScheme }): SecurityWriter {
  const split = splitFlows(schemes);
  return {
    schemes: () =>
      Object.fromEntries(Object.entries(split).map(([name, each]) => [name, writeSecurityScheme(each)])),
    requirements: (list) => writeRequirements(splitRequirements(list, split)),
  };
}
