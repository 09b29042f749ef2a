import type { CredentialsInput } from '../../../../src/console/console-api.ts';

/** Kinds of credentials, and `none`. */
export type CredentialsKind = CredentialsInput['kind'] | 'none';

/** Content of the form for a new agent. */
export interface AgentFormData {
  readonly url: string;
  readonly kind: CredentialsKind;
  /** Values of the credential fields. */
  readonly fields: Readonly<Record<string, string>>;
}

/** Fields of each kind of credentials; `isSecret` fields are masked. */
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
    { name: 'name', label: 'Header name' },
    { name: 'value', label: 'Value', isSecret: true },
  ],
  basic: [
    { name: 'user', label: 'User' },
    { name: 'password', label: 'Password', isSecret: true },
  ],
  'client-credentials': [
    { name: 'tokenUrl', label: 'Token URL' },
    { name: 'clientId', label: 'Client ID' },
    { name: 'clientSecret', label: 'Client secret', isSecret: true },
    { name: 'scope', label: 'Scope', isOptional: true },
  ],
};

/** Converts the form to credentials; undefined for none. */
export function credentialsFromForm({ kind, fields }: AgentFormData): CredentialsInput | undefined {
  if (kind === 'none') return undefined;
  const given: Record<string, string> = { kind };
  for (const { name, isOptional } of credentialFields[kind]) {
    const value = fields[name] ?? '';
    if (value !== '' || !isOptional) given[name] = value;
  }
  return given as unknown as CredentialsInput;
}
