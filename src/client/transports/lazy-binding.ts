import type { RequestOf, ResultOf, UnaryOperation } from '../../dialects/dialect.ts';
import type { CallContext } from '../../protocol/agent.ts';
import type {
  Endpoint,
  FrameStream,
  StreamingOperation,
  StreamOpenOptions,
  TransportBinding,
} from './transport-binding.ts';

/** Creates a binding that is loaded with the first call. */
export function lazyBinding(endpoint: Endpoint, load: () => Promise<TransportBinding>): TransportBinding {
  let loading: Promise<TransportBinding> | undefined;
  const binding = (): Promise<TransportBinding> => (loading ??= load());
  return {
    endpoint,
    async unary<O extends UnaryOperation>(
      operation: O,
      request: RequestOf[O],
      call: CallContext,
    ): Promise<ResultOf[O]> {
      return (await binding()).unary(operation, request, call);
    },
    async open<O extends StreamingOperation>(
      operation: O,
      request: RequestOf[O],
      call: CallContext,
      options: StreamOpenOptions,
    ): Promise<FrameStream> {
      return (await binding()).open(operation, request, call, options);
    },
  };
}
