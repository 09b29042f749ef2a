import type { CredentialsInput } from '../../../../src/console/console-api.ts';

/** The kinds of credentials, and `none`. */
export type CredentialsKind = CredentialsInput['kind'] | 'none';

/** What stands in the form for a new agent. */
export interface AgentFormData {
  readonly url: string;
  readonly kind: CredentialsKind;
  /** The fields of the credentials. */
  readonly fields: Readonly<Record<string, string>>;
}

/** The fields that each kind of credentials has; those with `isSecret` are not shown while they are typed. */
export const credentialFields: {
  readonly [kind in CredentialsKind]: readonly {
    readonly name: string;
    readonly label: string;
    readonly isSecret?: boolean;
    readonly isOptional?: boolean;
  }[];
} = {
  none: [],
  bearer: [{ name: 'token', label: 'Token', isSecret: true }],
  header: [
    { name: 'name', label: 'Name of the header' },
    { name: 'value', label: 'Value', isSecret: true },
  ],
  basic: [
    { name: 'user', label: 'User' },
    { name: 'password', label: 'Password', isSecret: true },
  ],
  'client-credentials': [
    { name: 'tokenUrl', label: 'Address that gives tokens' },
    { name: 'clientId', label: 'Client id' },
    { name: 'clientSecret', label: 'Client secret', isSecret: true },
    { name: 'scope', label: 'Scope', isOptional: true },
  ],
};

/** The credentials that a form describes; undefined for none. */
export function credentialsFromForm({ kind, fields }: AgentFormData): CredentialsInput | undefined {
  if (kind === 'none') return undefined;
  const given: Record<string, string> = { kind };
  for (const { name, isOptional } of credentialFields[kind]) {
    const value = fields[name] ?? '';
    if (value !== '' || !isOptional) given[name] = value;
  }
  return given as unknown as CredentialsInput;
}
