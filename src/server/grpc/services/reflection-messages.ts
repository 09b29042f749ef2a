import { buildMessageTypes } from '../../../dialects/protobuf/message-type.ts';

/** Messages of the packages `grpc.reflection.v1` and `grpc.reflection.v1alpha`, which are the same. */
export const reflectionMessages = buildMessageTypes(
  {
    ServerReflectionRequest: {
      host: '1 string',
      fileByFilename: '3 string | message_request',
      fileContainingSymbol: '4 string | message_request',
      fileContainingExtension: '5 ExtensionRequest | message_request',
      allExtensionNumbersOfType: '6 string | message_request',
      listServices: '7 string | message_request',
    },
    ExtensionRequest: { containingType: '1 string', extensionNumber: '2 int32' },
    ServerReflectionResponse: {
      validHost: '1 string',
      originalRequest: '2 ServerReflectionRequest',
      fileDescriptorResponse: '4 FileDescriptorResponse | message_response',
      allExtensionNumbersResponse: '5 ExtensionNumberResponse | message_response',
      listServicesResponse: '6 ListServiceResponse | message_response',
      errorResponse: '7 ErrorResponse | message_response',
    },
    FileDescriptorResponse: { fileDescriptorProto: '1 bytes[]' },
    ExtensionNumberResponse: { baseTypeName: '1 string', extensionNumber: '2 int32[]' },
    ListServiceResponse: { service: '1 ServiceResponse[]' },
    ServiceResponse: { name: '1 string' },
    ErrorResponse: { errorCode: '1 int32', errorMessage: '2 string' },
  },
  {},
);
