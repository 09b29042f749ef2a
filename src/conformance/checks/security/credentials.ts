import { protocolErrors } from '../../drivers/error-response.ts';
import type { DecodedResponse, DriverOperation, OperationInput } from '../../drivers/protocol-driver.ts';
import type { Probe } from '../../probe.ts';
import { authStatus } from '../../wire/http-exchange.ts';

/** An operation with its input. */
export type DriverCall = readonly [DriverOperation, OperationInput];

/** Calls any operation; of a stream, only the first event is read. */
export async function callAny(
  probe: Probe,
  operation: DriverOperation,
  input: OperationInput,
): Promise<DecodedResponse> {
  if (operation !== 'stream' && operation !== 'subscribe') return probe.call(operation, input);
  const { exchange, error, events } = await probe.openStream(operation, input, { until: () => true });
  return { exchange, ...(error ? { error } : { result: events[0]?.raw }) };
}

/** Returns the calls if the agent supports streaming. */
export function streamCalls({ capabilities }: Probe, calls: readonly DriverCall[]): readonly DriverCall[] {
  return capabilities.streaming === true ? calls : [];
}

/** Returns a call of every push configuration operation if the agent supports push notifications. */
export function pushCalls({ capabilities }: Probe, taskId: string, id: string): readonly DriverCall[] {
  if (capabilities.pushNotifications !== true) return [];
  return [
    ['createPush', { taskId, webhook: { url: 'https://webhook.example.com/a2a' } }],
    ['getPush', { taskId, id }],
    ['listPush', { taskId }],
    ['deletePush', { taskId, id }],
  ];
}

/** Returns a probe whose credentials have the format of the run and an invalid secret. */
export function withInvalidCredentials(probe: Probe, secret = 'invalid-secret'): Probe {
  const headers = Object.entries(probe.context.headers).map(([name, value]) => {
    const [scheme, ...rest] = value.split(' ');
    if (/^basic$/i.test(scheme ?? ''))
      return [name, `${scheme} ${Buffer.from(`user:${secret}`).toString('base64')}`];
    return [name, rest.length > 0 ? `${scheme} ${secret}` : secret];
  });
  const invalid = headers.length > 0 ? headers : [['authorization', `Bearer ${secret}`]];
  return probe.withCredentials(Object.fromEntries(invalid) as Record<string, string>);
}

const protocolCodes: ReadonlySet<number> = new Set(Object.values(protocolErrors).map(({ code }) => code));

/** Returns true if a request was rejected because of its credentials, not because of its content. */
export function isAuthRejection({ exchange, error }: DecodedResponse): boolean {
  if (authStatus(exchange) !== undefined) return true;
  // Over JSON-RPC with HTTP 200, the code of such an error is not one that the protocol defines.
  return error?.code !== undefined && !protocolCodes.has(error.code) && error.code !== -32603;
}
