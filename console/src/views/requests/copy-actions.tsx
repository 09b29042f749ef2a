import { CopyButton } from '../../components/copy-button.tsx';
import { Button } from '../../components/button.tsx';
import { Toggle } from '../../components/form-fields.tsx';
import { selectedAgent } from '../../session/agents.ts';
import { requestJson } from '../../session/api-client.ts';
import { draftToCode, draftToCurl } from './draft/copy-as.ts';
import type { EditedRequest } from './draft/request-draft.ts';
import { exchange, hasFreshIds, resetDraft } from './state.ts';

/** Copies the request as a command, code or scenario. */
export function CopyActions({ request: { draft } }: { request: EditedRequest }) {
  const agent = selectedAgent.value;
  const { url = '', requiredCredentials = [] } = agent ?? {};
  const curl = draftToCurl(draft, requiredCredentials);
  const code = draftToCode(draft, { url, requiredCredentials });
  const records = exchange.value?.isRunning === false ? exchange.value.records : [];
  return (
    <div class="requests-actions">
      <CopyButton
        label="Copy as curl"
        text={curl ?? ''}
        disabled={curl === undefined}
        title={curl === undefined ? 'The message does not fit its protocol buffers' : undefined}
      />
      <CopyButton
        label="Copy as TypeScript"
        text={code ?? ''}
        disabled={code === undefined}
        title={code === undefined ? 'Only a valid request can be written as code' : undefined}
      />
      <CopyButton
        label="Copy as scenario"
        disabled={records.length < 2}
        title={records.length < 2 ? 'Send the request first: the scenario expects its answer' : undefined}
        text={async () =>
          (await requestJson<{ yaml: string }>('traffic/scenario', { method: 'POST', body: { records } }))
            .yaml
        }
      />
      <span class="requests-space" />
      {draft.operation === 'send' || draft.operation === 'stream' ? (
        <Toggle
          label="New id per send"
          isOn={hasFreshIds.value}
          onTurn={(isOn) => (hasFreshIds.value = isOn)}
        />
      ) : null}
      <Button small kind="quiet" onClick={resetDraft}>
        Reset
      </Button>
    </div>
  );
}
