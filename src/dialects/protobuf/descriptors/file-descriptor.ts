import { toBase64 } from '../base64.ts';
import { encodeMessage } from '../encode-message.ts';
import { type EnumType, type FieldType, type MessageType, buildMessageTypes } from '../message-type.ts';

/** A method of a service in a file. */
interface DescribedMethod {
  readonly name: string;
  readonly request: MessageType;
  readonly response: MessageType;
  readonly isClientStreaming?: boolean;
  readonly isServerStreaming?: boolean;
}

/** What a file of protocol buffers defines. */
export interface DescribedFile {
  /** Path of the file, as other files import it. */
  readonly name: string;
  readonly package: string;
  readonly messages: readonly MessageType[];
  readonly services?: { readonly [name: string]: readonly DescribedMethod[] };
}

/** The description of a file, as tools read it by reflection. */
export interface FileDescriptor {
  readonly name: string;
  /** Names of the imported files. */
  readonly dependencies: readonly string[];
  /** Full names of all messages, enumerations, services and methods. */
  readonly symbols: readonly string[];
  /** The encoded `FileDescriptorProto`, in base64. */
  readonly base64: string;
}

/** Messages of `google/protobuf/descriptor.proto`, as far as they are used. */
export const descriptorTypes = buildMessageTypes(
  {
    File: {
      name: '1 string',
      package: '2 string',
      dependency: '3 string[]',
      messageType: '4 Message[]',
      enumType: '5 Enum[]',
      service: '6 Service[]',
      syntax: '12 string',
    },
    Message: {
      name: '1 string',
      field: '2 Field[]',
      nestedType: '3 Message[]',
      enumType: '4 Enum[]',
      options: '7 Options',
      oneofDecl: '8 Oneof[]',
    },
    Options: { mapEntry: '7 bool' },
    Field: {
      name: '1 string',
      number: '3 int32',
      label: '4 int32',
      type: '5 int32',
      typeName: '6 string',
      oneofIndex: '9 int32?',
      jsonName: '10 string',
      proto3Optional: '17 bool',
    },
    Oneof: { name: '1 string' },
    Enum: { name: '1 string', value: '2 EnumValue[]' },
    EnumValue: { name: '1 string', number: '2 int32?' },
    Service: { name: '1 string', method: '2 Method[]' },
    Method: {
      name: '1 string',
      inputType: '2 string',
      outputType: '3 string',
      clientStreaming: '5 bool',
      serverStreaming: '6 bool',
    },
  },
  {},
);

/** A described message, service or method. */
interface Named {
  readonly name: string;
  [member: string]: unknown;
}

/** Numbers of types in a descriptor. */
const typeNumbers = { int64: 3, int32: 5, bool: 8, string: 9, message: 11, bytes: 12, enum: 14 };

/** Well-known types, and the files that define them. */
const wellKnownFiles: { readonly [type: string]: string } = {
  Struct: 'google/protobuf/struct.proto',
  Value: 'google/protobuf/struct.proto',
  Timestamp: 'google/protobuf/timestamp.proto',
  Empty: 'google/protobuf/empty.proto',
};

/** Builds the description of a file from the tables of its messages. */
export function buildFileDescriptor(file: DescribedFile): FileDescriptor {
  return new FileBuilder(file).build();
}

class FileBuilder {
  readonly #file: DescribedFile;
  readonly #dependencies = new Set<string>();
  readonly #enums = new Map<string, EnumType>();

  constructor(file: DescribedFile) {
    this.#file = file;
  }

  build(): FileDescriptor {
    const { name, package: packageName, messages, services = {} } = this.#file;
    const own = messages.filter((each) => wellKnownFiles[each.name] === undefined);
    const messageType = own.map((each) => this.#message(each));
    const service = Object.entries(services).map(([serviceName, methods]) => ({
      name: serviceName,
      method: methods.map((each) => this.#method(each)),
    }));
    const enums = [...this.#enums.values()];
    for (const message of messageType)
      message.enumType = enums.filter((each) => each.name.startsWith(`${message.name}.`)).map(describeEnum);
    const dependencies = [...this.#dependencies].sort();
    const wire = {
      name,
      package: packageName,
      dependency: dependencies,
      messageType,
      enumType: enums.filter((each) => !each.name.includes('.')).map(describeEnum),
      service,
      syntax: 'proto3',
    };
    const symbols = [
      ...own.map((each) => each.name),
      ...this.#enums.keys(),
      ...service.flatMap((each) => [
        each.name,
        ...each.method.map((method) => `${each.name}.${method.name}`),
      ]),
    ].map((symbol) => `${packageName}.${symbol}`);
    return { name, dependencies, symbols, base64: toBase64(encodeMessage(descriptorTypes.File, wire)) };
  }

  #message(message: MessageType): Named {
    const nestedType: Named[] = [];
    const oneofs = [...new Set(message.fields.flatMap(({ oneof }) => oneof ?? []))];
    const field = message.fields.map((each) => {
      // A field with presence is the only one of a oneof of its own, after all others.
      const isOptional = each.oneof === undefined && each.hasPresence && !isMessage(each);
      const oneof = isOptional ? `_${each.protoName}` : each.oneof;
      if (isOptional) oneofs.push(`_${each.protoName}`);
      const described = { name: each.protoName, number: each.number, label: 1, jsonName: each.name };
      if (each.cardinality === 'map') {
        const entry = this.#mapEntry(each);
        nestedType.push(entry);
        const typeName = `.${this.#file.package}.${message.name}.${entry.name}`;
        return { ...described, label: 3, type: typeNumbers.message, typeName };
      }
      return {
        ...described,
        ...this.#type(each),
        ...(each.cardinality === 'many' && { label: 3 }),
        ...(oneof !== undefined && { oneofIndex: oneofs.indexOf(oneof) }),
        ...(isOptional && { proto3Optional: true }),
      };
    });
    const oneofDecl = oneofs.map((name) => ({ name }));
    return { name: message.name, field, nestedType, enumType: [], oneofDecl };
  }

  #mapEntry(field: FieldType): Named {
    const camelCase = field.name.charAt(0).toUpperCase() + field.name.slice(1);
    return {
      name: `${camelCase}Entry`,
      field: [
        { name: 'key', number: 1, label: 1, type: typeNumbers.string, jsonName: 'key' },
        { name: 'value', number: 2, label: 1, jsonName: 'value', ...this.#type(field) },
      ],
      options: { mapEntry: true },
    };
  }

  #type({ type }: FieldType): { type: number; typeName?: string } {
    if (typeof type === 'object') {
      if (type.kind === 'enum') this.#enums.set(type.name, type);
      return { type: typeNumbers[type.kind], typeName: this.#typeName(type.name) };
    }
    if (type === 'Struct' || type === 'Value' || type === 'Timestamp')
      return { type: typeNumbers.message, typeName: this.#typeName(type) };
    return { type: typeNumbers[type] };
  }

  #method({ name, request, response, isClientStreaming, isServerStreaming }: DescribedMethod): Named {
    return {
      name,
      inputType: this.#typeName(request.name),
      outputType: this.#typeName(response.name),
      clientStreaming: isClientStreaming,
      serverStreaming: isServerStreaming,
    };
  }

  #typeName(name: string): string {
    const file = wellKnownFiles[name];
    if (file === undefined) return `.${this.#file.package}.${name}`;
    this.#dependencies.add(file);
    return `.google.protobuf.${name}`;
  }
}

function isMessage({ type, cardinality }: FieldType): boolean {
  if (cardinality !== 'one' || type === 'Struct' || type === 'Value' || type === 'Timestamp') return true;
  return typeof type === 'object' && type.kind === 'message';
}

function describeEnum({ name, numbers }: EnumType): object {
  return {
    name: name.slice(name.indexOf('.') + 1),
    value: [...numbers].map(([value, number]) => ({ name: value, number })),
  };
}
