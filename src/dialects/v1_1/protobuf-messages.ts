import { buildMessageTypes } from '../protobuf/message-type.ts';
import { fields1_0 } from '../protobuf/messages-1_0.ts';
import { enumValues } from '../protobuf/unchanged-messages.ts';

/** The messages of A2A 1.0 with the fields that 1.1 adds. */
export const messages1_1 = buildMessageTypes(
  {
    ...fields1_0,
    Task: { ...fields1_0.Task, generation: '7 int64' },
    TaskStatusUpdateEvent: { ...fields1_0.TaskStatusUpdateEvent, generation: '5 int64' },
    TaskArtifactUpdateEvent: { ...fields1_0.TaskArtifactUpdateEvent, generation: '7 int64' },
    GetTaskRequest: { ...fields1_0.GetTaskRequest, currentGeneration: '4 int64?' },
    SendMessageConfiguration: { ...fields1_0.SendMessageConfiguration, ifGenerationMatch: '5 int64?' },
  },
  enumValues('CANCELED'),
);
