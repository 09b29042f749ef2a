import type { Cell } from './matrix.ts';

const noMessageId = 'dropped: 0.1 messages have no messageId; stored in the metadata';
const guessedIndex =
  'guessed: 0.1 artifacts have an index; 0 is used for a-0, which is stored in the metadata';

/**
 * Returns the exact translation losses of a cell, sorted. Only 0.1 causes losses, on either side. Fields that it does
 * not have are preserved in metadata, so that a later version can restore them.
 */
export function expectedLosses({ client, transport, upstream, scenario }: Cell): string[] {
  const losses: string[] = [];
  if (upstream === '0.1') {
    losses.push('protocolVersion defaulted: missing; read as 0.2', `message.messageId ${noMessageId}`);
    // A 0.1 client chooses the task id; on a mesh the upstream gets a different one.
    if (client !== '0.1' || transport === 'mesh') {
      losses.push('id defaulted: 0.1 requires a task id from the client: …');
      if (scenario === 'input-required')
        losses.push(
          'message.taskId guessed: sent as the id of the request; a 0.1 agent creates unknown tasks',
        );
    }
  }
  if (client === '0.1' && transport === 'mesh') {
    // A canceled task has no message.
    if (scenario !== 'cancel') losses.push(`task.status.message.messageId ${noMessageId}`);
    const streams =
      scenario === 'stream' || scenario === 'cancel' || scenario === 'artifact out' || scenario === 'failure';
    if (streams) losses.push(`status.message.messageId ${noMessageId}`);
    const producesArtifact = scenario !== 'cancel' && scenario !== 'failure';
    if (producesArtifact && upstream !== '0.1') losses.push(`task.artifacts[0].artifactId ${guessedIndex}`);
    // Text artifacts are sent as status messages.
    if (scenario === 'artifact out' && upstream !== '0.1') losses.push(`artifact.artifactId ${guessedIndex}`);
  }
  return losses.toSorted();
}
