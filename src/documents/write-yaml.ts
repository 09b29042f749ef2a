import { stringify } from 'yaml';

/** Writes a value as YAML that people like to read and go on with. */
export function writeYaml(value: unknown): string {
  return stringify(value, { lineWidth: 110, aliasDuplicateObjects: false });
}
