import { stringify } from 'yaml';

/** Writes a value as readable YAML. */
export function writeYaml(value: unknown): string {
  return stringify(value, { lineWidth: 110, aliasDuplicateObjects: false });
}
