import { Role } from 'sdk-1.3';

/** A part that is text, as this client has it. */
export const text = (value: string) => ({ content: { $case: 'text', value } });

/** Creates a message of this client. */
export function say(content: string, more: object = {}, configuration?: object): any {
  return {
    tenant: '',
    message: {
      messageId: crypto.randomUUID(),
      contextId: '',
      taskId: '',
      role: Role.ROLE_USER,
      parts: [{ ...text(content), metadata: undefined, filename: '', mediaType: '' }],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
      ...more,
    },
    configuration: configuration && {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      returnImmediately: false,
      ...configuration,
    },
    metadata: undefined,
  };
}

/** Reads a stream of this client to its end. */
export async function collect(events: AsyncIterable<any>): Promise<any[]> {
  const all: any[] = [];
  for await (const event of events) all.push(event.payload);
  return all;
}
