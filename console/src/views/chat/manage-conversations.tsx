import { useSignal } from '@preact/signals';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { formatDayOrTime } from '../../components/format-units.ts';
import { KeptItems } from '../../session/kept/kept-items.tsx';
import { titleOf } from './conversation.ts';
import {
  agentConversations,
  clearConversations,
  conversationError,
  deleteConversation,
  openConversation,
  renameConversation,
} from './state.ts';

/** A button that opens the conversations with an agent in a dialog, to rename and delete them. */
export function ManageConversations({ agentId }: { agentId: string }) {
  const isOpen = useSignal(false);
  const close = () => (isOpen.value = false);
  return (
    <>
      <Button small kind="quiet" onClick={() => (isOpen.value = true)}>
        Manage conversations
      </Button>
      <Dialog title="Conversations" isOpen={isOpen.value} onClose={close}>
        <KeptItems
          noun="conversation"
          items={agentConversations.value.map((each) => ({
            id: each.id,
            name: titleOf(each),
            facts: formatDayOrTime(each.turns.at(-1)?.at ?? each.kept?.at ?? 0),
          }))}
          clearHint="This deletes the conversations with all agents. Tasks continue."
          error={conversationError.value}
          onOpen={(id) => {
            openConversation(agentId, id);
            close();
          }}
          onRename={(id, name) => void renameConversation(id, name)}
          onDelete={(id) => void deleteConversation(id)}
          onClear={() => void clearConversations()}
        />
      </Dialog>
    </>
  );
}
