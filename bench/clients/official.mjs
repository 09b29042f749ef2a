// Official SDK client, JSON-RPC 1.0 or gRPC 1.0.
import { ClientFactory, JsonRpcTransportFactory } from 'sdk-1.3/client';
import { GrpcTransportFactory } from 'sdk-1.3/client/grpc';
import { Role } from 'sdk-1.3';
let n = 0;
const params = (text) => ({
  tenant: '',
  metadata: undefined,
  configuration: undefined,
  message: {
    messageId: `m-${n++}`,
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    parts: [{ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' }],
  },
});
export async function create(url, transport) {
  const transports = [transport === 'GRPC' ? new GrpcTransportFactory() : new JsonRpcTransportFactory()];
  const c = await new ClientFactory({ transports }).createFromUrl(url);
  return { send: (t) => c.sendMessage(params(t)), stream: (t) => c.sendMessageStream(params(t)) };
}
