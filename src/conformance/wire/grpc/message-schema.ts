/** One field of a message type. */
export interface SchemaField {
  readonly number: number;
  /** Name in ProtoJSON. */
  readonly name: string;
  /** A scalar (`string`, `bytes`, `bool`, `int32`, `double`), an enumeration or a message. */
  readonly type: string;
  readonly kind: 'single' | 'list' | 'map';
  /** True if the field is written as its default value when it is missing, because JSON requires the member. */
  readonly isRequired: boolean;
}

/** The message types and enumerations of one version. */
export interface MessageSchema {
  readonly messages: ReadonlyMap<string, readonly SchemaField[]>;
  /** Names of the values by number. */
  readonly enums: ReadonlyMap<string, ReadonlyMap<number, string>>;
}

/**
 * Parses field tables: one line per type, such as `Task: id 1 string, artifacts 4 Artifact[], scopes 5 string{}`. `[]`
 * marks a list and `{}` a map with strings as keys; `!` after a type marks a member that JSON requires.
 */
export function parseMessageSchema(
  tables: string,
  enums: Readonly<Record<string, Readonly<Record<number, string>>>>,
): MessageSchema {
  const messages = new Map<string, readonly SchemaField[]>();
  for (const line of tables.trim().split('\n')) {
    const [name = '', fields = ''] = line.split(':').map((each) => each.trim());
    const list = fields === '' ? [] : fields.split(',').map((each) => parseField(each.trim()));
    messages.set(name, list);
  }
  const byNumber = Object.entries(enums).map(
    ([name, values]) =>
      [name, new Map(Object.entries(values).map(([number, value]) => [Number(number), value]))] as const,
  );
  return { messages, enums: new Map(byNumber) };
}

function parseField(text: string): SchemaField {
  const [name = '', number = '', suffixed = ''] = text.split(' ');
  const isRequired = suffixed.endsWith('!');
  const marked = isRequired ? suffixed.slice(0, -1) : suffixed;
  const kind = marked.endsWith('[]') ? 'list' : marked.endsWith('{}') ? 'map' : 'single';
  const type = kind === 'single' ? marked : marked.slice(0, -2);
  return { name, number: Number(number), type, kind, isRequired };
}
