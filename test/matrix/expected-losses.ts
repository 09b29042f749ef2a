import type { Cell } from './matrix.ts';

const unnamed = 'dropped: 0.1 messages have no messageId; it travels in the metadata';
const uncounted = 'guessed: 0.1 artifacts have an index; 0 stands for a-0, which travels in the metadata';

/**
 * What is reported as lost between two versions, in order; nothing else may be. Only 0.1 has too few words, on either
 * side. What it cannot say travels in metadata, so that a later version behind it finds it again.
 */
export function expectedLosses({ caller, way, downstream, doing }: Cell): string[] {
  const losses: string[] = [];
  if (downstream === '0.1') {
    losses.push('protocolVersion defaulted: taken for 0.2, which had none', `message.messageId ${unnamed}`);
    // A caller of 0.1 has named its task; on a mesh that is the name of the mesh, and the agent gets another.
    if (caller !== '0.1' || way === 'mesh') {
      losses.push('id defaulted: 0.1 needs a task id of the caller; it is …');
      if (doing === 'input-required')
        losses.push(
          'message.taskId guessed: it became the id of the request; a 0.1 agent makes a task that it does not know',
        );
    }
  }
  if (caller === '0.1' && way === 'mesh') {
    losses.push(`task.status.message.messageId ${unnamed}`);
    const streams =
      doing === 'stream' || doing === 'cancel' || doing === 'artifact out' || doing === 'failure';
    if (streams) losses.push(`status.message.messageId ${unnamed}`);
    const makes = doing !== 'cancel' && doing !== 'failure';
    if (makes && downstream !== '0.1') losses.push(`task.artifacts[0].artifactId ${uncounted}`);
    // Artifacts that are text go as words.
    if (doing === 'artifact out' && downstream !== '0.1') losses.push(`artifact.artifactId ${uncounted}`);
  }
  return losses.toSorted();
}
