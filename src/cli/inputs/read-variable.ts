import { UsageError } from '../terminal/usage-error.ts';

/** Returns the secret in an environment variable. @throws UsageError if the variable of the flag is not set */
export function readVariable(name: string, flag: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw unsetVariableError(name, flag);
  return value;
}

/** Creates the error for a variable that is not set. */
export function unsetVariableError(name: string, flag: string): UsageError {
  return new UsageError(
    `Environment variable ${name} of ${flag} is not set`,
    `Set ${name}, or omit ${flag}.`,
  );
}
