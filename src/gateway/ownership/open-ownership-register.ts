import { dirname } from 'node:path';
import { parseStoreUrl } from '../../store/url/parse-store-url.ts';
import { resolveStoreFile } from '../../store/url/store-of-agent.ts';
import { memoryOwnershipRegister } from './memory-ownership-register.ts';
import type { OwnershipRegister } from './ownership-register.ts';

/** Opens the register that `store` names. Its file is relative to the configuration file, and always shared. */
export async function openOwnershipRegister(settings: {
  store: string;
  file: string;
}): Promise<OwnershipRegister> {
  const url = resolveStoreFile(parseStoreUrl(settings.store), dirname(settings.file));
  switch (url.kind) {
    case 'memory':
      return memoryOwnershipRegister();
    case 'sqlite':
      return (await import('./sqlite-ownership-register.ts')).sqliteOwnershipRegister({ file: url.file });
    case 'postgres':
      return (await import('./postgres-ownership-register.ts')).postgresOwnershipRegister(url);
  }
}
