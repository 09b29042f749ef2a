import { toBase64 } from '../base64.ts';
import { encodeMessage } from '../encode-message.ts';
import { descriptorTypes, type FileDescriptor } from './file-descriptor.ts';

/** Types of fields that no message of A2A has. The numbers are those of a descriptor. */
const types = { double: 1, int64: 3, int32: 5, bool: 8, string: 9, message: 11, enum: 14 };

interface FieldOptions {
  readonly typeName?: string;
  readonly label?: number;
  readonly oneofIndex?: number;
}

const field = (
  name: string,
  number: number,
  type: keyof typeof types,
  { typeName, ...more }: FieldOptions = {},
): object => ({
  name,
  number,
  label: 1,
  type: types[type],
  jsonName: name.replace(/_[a-z]/g, (text) => text.slice(1).toUpperCase()),
  ...(typeName !== undefined && { typeName: `.google.protobuf.${typeName}` }),
  ...more,
});

const repeated = 3;
const kind = { oneofIndex: 0 };

const structMessages = [
  {
    name: 'Struct',
    field: [field('fields', 1, 'message', { typeName: 'Struct.FieldsEntry', label: repeated })],
    nestedType: [
      {
        name: 'FieldsEntry',
        field: [field('key', 1, 'string'), field('value', 2, 'message', { typeName: 'Value' })],
        options: { mapEntry: true },
      },
    ],
  },
  {
    name: 'Value',
    field: [
      field('null_value', 1, 'enum', { typeName: 'NullValue', ...kind }),
      field('number_value', 2, 'double', kind),
      field('string_value', 3, 'string', kind),
      field('bool_value', 4, 'bool', kind),
      field('struct_value', 5, 'message', { typeName: 'Struct', ...kind }),
      field('list_value', 6, 'message', { typeName: 'ListValue', ...kind }),
    ],
    oneofDecl: [{ name: 'kind' }],
  },
  {
    name: 'ListValue',
    field: [field('values', 1, 'message', { typeName: 'Value', label: repeated })],
  },
];

const timestampMessages = [
  { name: 'Timestamp', field: [field('seconds', 1, 'int64'), field('nanos', 2, 'int32')] },
];

const nullValue = { name: 'NullValue', value: [{ name: 'NULL_VALUE', number: 0 }] };

function describe(
  name: string,
  messageType: readonly { name: string }[],
  enumType: readonly { name: string }[] = [],
): FileDescriptor {
  const file = {
    name: `google/protobuf/${name}.proto`,
    package: 'google.protobuf',
    messageType,
    enumType,
    syntax: 'proto3',
  };
  return {
    name: file.name,
    dependencies: [],
    symbols: [...messageType, ...enumType].map((each) => `google.protobuf.${each.name}`),
    base64: toBase64(encodeMessage(descriptorTypes.File, file)),
  };
}

/** Descriptions of the files that the files of A2A import. */
export const wellKnownFileDescriptors = (): readonly FileDescriptor[] => [
  describe('empty', [{ name: 'Empty' }]),
  describe('timestamp', timestampMessages),
  describe('struct', structMessages, [nullValue]),
];
