import { useSignal } from '@preact/signals';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { formatByteSize, formatDayOrTime } from '../../../components/format-units.ts';
import { KeptItems } from '../../../session/kept/kept-items.tsx';
import {
  clearRecordings,
  deleteRecording,
  loadRecordings,
  openRecording,
  recordingError,
  recordings,
  renameRecording,
} from './state.ts';

/** A button that opens the recordings of this console and of earlier runs in a dialog. */
export function RecordingsDialog() {
  const isOpen = useSignal(false);
  const close = () => (isOpen.value = false);
  return (
    <>
      <Button
        title="Traffic of this console, of earlier runs and of imported files"
        onClick={() => {
          isOpen.value = true;
          void loadRecordings();
        }}
      >
        Recordings
      </Button>
      <Dialog title="Recordings" isOpen={isOpen.value} onClose={close}>
        <KeptItems
          noun="recording"
          items={recordings.value.map(({ id, name, at, size, isLive }) => ({
            id,
            name,
            facts: `${isLive ? 'now' : formatDayOrTime(at)} · ${formatByteSize(size)}`,
          }))}
          clearHint="This deletes the recordings of this console and of earlier runs."
          error={recordingError.value}
          onOpen={(id) => void openRecording(id).then((isShown) => isShown && close())}
          onRename={(id, name) => void renameRecording(id, name)}
          onDelete={(id) => void deleteRecording(id)}
          onClear={() => void clearRecordings()}
        />
      </Dialog>
    </>
  );
}
