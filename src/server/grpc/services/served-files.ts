import {
  buildFileDescriptor,
  type DescribedFile,
  type FileDescriptor,
} from '../../../dialects/protobuf/descriptors/file-descriptor.ts';
import { wellKnownFileDescriptors } from '../../../dialects/protobuf/descriptors/well-known-files.ts';
import { grpcServices } from '../../../dialects/protobuf/grpc-service.ts';
import { messages0_3 } from '../../../dialects/protobuf/messages-0_3.ts';
import { messages1_0 } from '../../../dialects/protobuf/messages-1_0.ts';
import { isStreamingOperation } from '../../../protocol/agent.ts';
import { healthMessages } from './health-messages.ts';
import { reflectionMessages } from './reflection-messages.ts';

/** The files that define the services of the server, with those that they import. */
interface ServedFiles {
  /** Full names of the services. */
  readonly services: readonly string[];
  readonly byName: ReadonlyMap<string, FileDescriptor>;
  /** The file that defines a message, enumeration, service or method, by its full name. */
  readonly bySymbol: ReadonlyMap<string, FileDescriptor>;
}

const agentFiles = (): DescribedFile[] =>
  grpcServices.map(({ name, methods, dialect }) => ({
    name: dialect.version === '1.0' ? 'lf/a2a/v1/a2a.proto' : 'a2a/v1/a2a.proto',
    package: name.slice(0, name.lastIndexOf('.')),
    messages: Object.values(dialect.version === '1.0' ? messages1_0 : messages0_3),
    services: {
      A2AService: methods.map((each) => ({
        ...each,
        isServerStreaming: isStreamingOperation(each.operation),
      })),
    },
  }));

const healthFile: DescribedFile = {
  name: 'grpc/health/v1/health.proto',
  package: 'grpc.health.v1',
  messages: Object.values(healthMessages),
  services: {
    Health: ['Check', 'Watch'].map((name) => ({
      name,
      request: healthMessages.HealthCheckRequest,
      response: healthMessages.HealthCheckResponse,
      isServerStreaming: name === 'Watch',
    })),
  },
};

const reflectionFiles = ['v1', 'v1alpha'].map(
  (version): DescribedFile => ({
    name: `grpc/reflection/${version}/reflection.proto`,
    package: `grpc.reflection.${version}`,
    messages: Object.values(reflectionMessages),
    services: {
      ServerReflection: [
        {
          name: 'ServerReflectionInfo',
          request: reflectionMessages.ServerReflectionRequest,
          response: reflectionMessages.ServerReflectionResponse,
          isClientStreaming: true,
          isServerStreaming: true,
        },
      ],
    },
  }),
);

let files: ServedFiles | undefined;

/** Returns the files of all services, which are described at the first call. */
export function servedFiles(): ServedFiles {
  files ??= describeFiles();
  return files;
}

function describeFiles(): ServedFiles {
  const described = [...agentFiles(), healthFile, ...reflectionFiles];
  const descriptors = [...described.map(buildFileDescriptor), ...wellKnownFileDescriptors()];
  return {
    services: described.flatMap((file) =>
      Object.keys(file.services ?? {}).map((service) => `${file.package}.${service}`),
    ),
    byName: new Map(descriptors.map((each) => [each.name, each])),
    bySymbol: new Map(descriptors.flatMap((each) => each.symbols.map((symbol) => [symbol, each] as const))),
  };
}
