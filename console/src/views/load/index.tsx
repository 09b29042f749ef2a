import { Tabs } from '../../components/tabs.tsx';
import { ObservedLoad } from './observed-load.tsx';
import { LoadRunPart } from './run/load-run-part.tsx';
import { openLoadView, openPart } from './state.ts';
import './load.css';

/** The load view. */
export function LoadView() {
  const part = openPart.value;
  return (
    <div class="load">
      <Tabs
        label="Parts of the load view"
        tabs={[
          { id: 'observed', title: 'Observed load' },
          { id: 'run', title: 'Load run' },
        ]}
        open={part}
        onOpen={(id) => openLoadView({ part: id })}
      >
        {part === 'run' ? <LoadRunPart /> : <ObservedLoad />}
      </Tabs>
    </div>
  );
}
