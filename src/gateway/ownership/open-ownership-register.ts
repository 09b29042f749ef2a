import { dirname, resolve } from 'node:path';
import { memoryOwnershipRegister } from './memory-ownership-register.ts';
import type { OwnershipRegister } from './ownership-register.ts';

/** Opens the register that `store` names. Its file is relative to the configuration file. */
export async function openOwnershipRegister(settings: {
  store: string;
  file: string;
}): Promise<OwnershipRegister> {
  const { store, file } = settings;
  if (store === 'memory') return memoryOwnershipRegister();
  const { sqliteOwnershipRegister } = await import('./sqlite-ownership-register.ts');
  // A file of owners is always shared.
  const path = store.slice('sqlite:'.length).replace(/\?shared$/, '');
  return sqliteOwnershipRegister({ file: resolve(dirname(file), path) });
}
