import { decodeMessage } from '../../../dialects/protobuf/decode-message.ts';
import type { FileDescriptor } from '../../../dialects/protobuf/descriptors/file-descriptor.ts';
import { encodeFrameText } from '../../../dialects/protobuf/encode-message.ts';
import { FrameReader } from '../../../dialects/protobuf/frame-reader.ts';
import type { ServerCall } from '../server-call.ts';
import { toA2AError } from '../read-message.ts';
import { reflectionMessages } from './reflection-messages.ts';
import { servedFiles } from './served-files.ts';

interface ReflectionRequest {
  readonly host?: string;
  readonly fileByFilename?: string;
  readonly fileContainingSymbol?: string;
  readonly listServices?: string;
}

/** Status code of gRPC for a name that no file has. */
const notFound = 5;

/** Status code of gRPC for a question without an answer. */
const unimplemented = 12;

/** Responds to each message of a call of `grpc.reflection.v1.ServerReflection`: describes services and messages. */
export function reflect(call: ServerCall): void {
  const { stream, limits } = call;
  const reader = new FrameReader(limits.maxBodyBytes);
  const wait = (): void => {
    stream.pause();
    call.onDrained = () => stream.resume();
  };
  call.open();
  call.read({
    dataReceived(bytes) {
      if (call.isOver) return;
      try {
        for (const message of reader.push(bytes)) {
          call.received();
          if (!call.write(answer(decodeMessage(reflectionMessages.ServerReflectionRequest, message)))) wait();
        }
      } catch (thrown) {
        call.fail(toA2AError(thrown, limits.maxBodyBytes));
      }
    },
    endReceived: () => call.end(),
    closed() {},
  });
}

function answer(request: ReflectionRequest): string {
  const { host, fileByFilename, fileContainingSymbol, listServices } = request;
  const { services, byName, bySymbol } = servedFiles();
  let result: object;
  if (listServices !== undefined)
    result = { listServicesResponse: { service: services.map((name) => ({ name })) } };
  else if (fileByFilename !== undefined) result = describe(byName.get(fileByFilename));
  else if (fileContainingSymbol !== undefined) result = describe(bySymbol.get(fileContainingSymbol));
  else result = { errorResponse: { errorCode: unimplemented, errorMessage: 'There are no extensions' } };
  const response = { validHost: host, originalRequest: request, ...result };
  return encodeFrameText(reflectionMessages.ServerReflectionResponse, response);
}

/** Returns a file with all files that it imports. */
function describe(file: FileDescriptor | undefined): object {
  if (!file) return { errorResponse: { errorCode: notFound, errorMessage: 'No file defines this name' } };
  const { byName } = servedFiles();
  const imported = file.dependencies.flatMap((name) => byName.get(name) ?? []);
  return { fileDescriptorResponse: { fileDescriptorProto: [file, ...imported].map(({ base64 }) => base64) } };
}
